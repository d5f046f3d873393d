"""When which endpoint had the message of a round trip, found only from the stamps of both sides (`turn: yes`) and the source's gaps between polls."""
import bisect
import json
import mmap

TIME, KIND, VALUE, WORDS = 0, 2, 4, 5  # of an event in trace-<side>.npy
SOON_NS = 1000  # from the end of a gap to the stamp of a message that had arrived during it


def column(path):
    """The 64-bit integers of a .npy file. Does not use numpy, which takes seconds to load on an emulated CPU."""
    with open(path, "rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return data[10 + int.from_bytes(data[8:10], "little"):].cast("q")


def gaps_of(rep, side):
    """[(from, to)], in order; None if the loop does not record gaps."""
    with open(f"{rep}/trace-{side}.json") as file:
        about = json.load(file)
    if not about.get("gaps"):
        return None
    events, gap = column(f"{rep}/trace-{side}.npy"), about["kinds"].index("gap")
    found = [i * WORDS for i, kind in enumerate(events[KIND::WORDS]) if kind == gap]
    return [(events[i + TIME] - events[i + VALUE], events[i + TIME]) for i in found]


class RoundTrips:
    """The messages of a repetition."""

    def __init__(self, rep):
        self.sent, self.turned, self.back = (column(f"{rep}/{name}.npy") for name in ("t_subm", "t_turn", "t_back"))
        self.gaps = gaps_of(rep, "source")

    def gap_at(self, time):
        """The source's gap at this time, or one that ended shortly before."""
        i = bisect.bisect_left(self.gaps, (time, time)) - 1
        return self.gaps[i] if i >= 0 and self.gaps[i][1] > time - SOON_NS else None

    def at_sink(self, message):
        """From when until when the sink can have delayed it: not before the source continues after its stamp, and not after the sink's stamp, unless the
        source polled then and found no answer."""
        sent, turned, back = (stamps[message] for stamps in (self.sent, self.turned, self.back))
        if self.gaps is None:
            return sent, turned
        before, last = self.gap_at(sent), self.gap_at(back)
        return max(sent, before[1]) if before else sent, max(turned, last[0]) if last else back

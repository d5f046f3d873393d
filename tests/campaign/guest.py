"""What needs a kernel of its own: kbtune killed on a real machine, faults of devices and links. Kinds are added below."""
KINDS = {}

# A Python program that has tuned's own code load profiles, as its daemon does, and prints what they resolve to. It
# changes nothing: programs that a profile names (${f:exec:...}) are not run, and tuned's bus, sockets and files are
# not opened. It works with tuned 2.15 to 2.28, whose modules differ in the places that are looked at with hasattr().
#
# Its argument is JSON: {"root": of a recorded machine or "", "names": [...], "own": [NAME, PATH] or null, "list": bool}.
# It prints JSON: "dirs", where profiles are; "daemon", "dynamic", "rollback" as tuned-main.conf has them; "known", all
# profiles with their summaries, if "list"; "units": [{"name", "type", "options": [[key, value], ...], "scripts"}];
# "sysctls": [[path, value], ...], also those of sysctl.d that tuned sets again; "blocked": programs that were not run;
# "errors" of tuned's log; "refused": why tuned does not load it; or only "missing": why its modules cannot be loaded.
import json, logging, os, sys
sys.dont_write_bytecode = True
out, null = os.dup(1), os.open('/dev/null', os.O_RDWR)
os.dup2(null, 1)
os.dup2(null, 2)
asked = json.loads(sys.argv[1])
root = os.path.realpath(asked['root']) if asked['root'] else ''
own, said = asked['own'], {'errors': [], 'blocked': []}

def end(**more):
    said.update(more)
    os.write(out, json.dumps(said).encode())
    os._exit(0)

try:
    import tuned.consts as consts, tuned.logs
    from tuned import profiles, units
    from tuned.plugins import base, plugin_sysctl
    from tuned.utils.commands import commands
    from tuned.utils.global_config import GlobalConfig
    import tuned.profiles.variables, tuned.units.manager
except Exception as e:
    end(missing=str(e))

class Errors(logging.Handler):
    def emit(self, record):
        if record.levelno >= logging.ERROR:
            said['errors'].append(record.getMessage())

tuned.logs.get().addHandler(Errors())
Variables = tuned.profiles.variables.Variables

def below(path):
    return path if path.startswith(root + '/') else root + path

run = commands.execute
def execute(self, args, *rest, **more):
    words = args if isinstance(args, (list, tuple)) else str(args).split()
    if words and os.path.basename(words[0]) in ('virt-what', 'lscpu', 'nproc') and not root:
        return run(self, args, *rest, **more)
    said['blocked'].append(' '.join(map(str, words)))
    return (-1, '', '') if more.get('return_err') else (-1, '')
commands.execute = execute

def refuse(self, *rest, **more):
    return False
for name in ('write_to_file', 'rmtree', 'unlink', 'rename', 'copy'):
    setattr(commands, name, refuse)

if root:
    read, include = commands.read_file, Variables.add_from_file
    commands.read_file = lambda self, f, *rest, **more: read(self, below(f), *rest, **more)
    Variables.add_from_file = lambda self, f: include(self, below(f))

class Config(dict):
    def get_bool(self, key, default=None):
        return default
    get_list = get_bool

try:
    config = GlobalConfig(root + consts.GLOBAL_CONFIG_FILE)
except Exception:
    config = Config()
if hasattr(consts, 'LOAD_DIRECTORIES'):
    dirs = list(consts.LOAD_DIRECTORIES)
else:
    dirs = list(config.get_list(consts.CFG_PROFILE_DIRS, consts.CFG_DEF_PROFILE_DIRS))
said['dirs'] = dirs
said['daemon'] = bool(config.get_bool(consts.CFG_DAEMON, consts.CFG_DEF_DAEMON))
said['dynamic'] = bool(config.get_bool(consts.CFG_DYNAMIC_TUNING, consts.CFG_DEF_DYNAMIC_TUNING))
said['rollback'] = str(config.get('rollback') or 'auto')

class Locator(profiles.Locator):
    def get_config(self, name, skip_files=None):
        if own and name.lstrip('-') == own[0]:
            return '' if own[1] in (skip_files or []) else own[1]
        return super(Locator, self).get_config(name, skip_files)

locator = Locator([root + d for d in dirs])
if asked['list']:
    end(known=dict(locator.get_known_names_summary()))

try:
    variables = Variables()
    loader = profiles.Loader(locator, profiles.Factory(), profiles.Merger(), config, variables)
    profile = loader.load(asked['names'])
    manager = object.__new__(tuned.units.manager.Manager)
    manager._config, manager._cmd = config, commands()
    chosen = [u for u in profile.units.values()
              if u.enabled and manager._unit_matches_cpuinfo(u) and manager._unit_matches_uname(u)]
except Exception as e:
    end(refused=str(e) or type(e).__name__)

def without_root(path):
    return path[len(root):] if root and path.startswith(root + '/') else path

def expand(value):
    if isinstance(value, (list, tuple)):
        return [without_root(str(variables.expand(v))) for v in value]
    return variables.expand(commands().unquote(str(value)))

module, sysctls = plugin_sysctl, []
old = hasattr(module, '_write_sysctl')

class Sysctl(module.SysctlPlugin):
    def __init__(self):
        self._global_cfg, self._variables, self._cmd = config, variables, commands()
    def cleanup(self):
        pass
    def _write_sysctl(self, option, value, ignore_missing=False):
        sysctls.append([self._path(option), value])
    def _path(self, option):
        return module._get_sysctl_path(option) if old else self._get_sysctl_path(option)

plugin = Sysctl()
for unit in chosen:
    if unit.type != 'sysctl':
        continue
    for option, value in unit.options.items():
        path, now = plugin._path(option), None
        try:
            with open(root + path) as f:
                now = f.read().strip()
            want = plugin._process_assignment_modifiers(expand(value), now)
        except Exception:
            want = expand(value)
        sysctls.append([path, now if want is None else want])
if any(unit.type == 'sysctl' for unit in chosen) and config.get_bool(consts.CFG_REAPPLY_SYSCTL, True):
    module.SYSCTL_CONFIG_DIRS = [root + d for d in module.SYSCTL_CONFIG_DIRS]
    try:
        if old:
            module._write_sysctl = plugin._write_sysctl
            one = module._apply_sysctl_config_file
            module._apply_sysctl_config_file = lambda path, *rest: one(below(path), *rest)
            module._apply_system_sysctl({})
        else:
            one = plugin._apply_sysctl_config_file
            plugin._apply_sysctl_config_file = lambda path, *rest: one(below(path), *rest)
            plugin._apply_system_sysctl({})
    except Exception as e:
        said['errors'].append('sysctl.d: %s' % e)

def describe(unit):
    scripts = [s for s in (unit.script_pre, unit.script_post) if s]
    return {'name': unit.name, 'type': unit.type, 'scripts': [without_root(str(variables.expand(s))) for s in scripts],
            'options': [[str(k), expand(v)] for k, v in unit.options.items() if k != 'priority']}

end(units=[describe(u) for u in chosen], sysctls=sysctls)

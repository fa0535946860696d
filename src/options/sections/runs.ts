import * as kinds from '../kinds.js'
import { section } from '../option.js'

const runs = section('Runs', ['ingest', 'replay'])

export const runsOptions = {
  stateDir: runs(kinds.text().optional(), {
    doc: 'folder for the checkpoints that resumes go by; default $XDG_STATE_HOME/sluice or ~/.local/state/sluice',
    label: 'folder',
    commands: ['ingest', 'replay', 'runs', 'verify', 'undo', 'pull', 'login', 'serve'],
  }),
  spool: runs(kinds.flag().prefault(false), {
    doc: 'write stdin to the state folder and load it from there, so that a run can continue; data that comes again is loaded again, unless --run-id or --ids field makes its ids the same',
  }),
  spoolLimit: runs(kinds.size({ min: 1_000_000, max: 1e15 }).optional(), {
    doc: 'most that is kept on the disk of one stdin: the producer is held back until what came first is loaded; serve: of all that waits, 1gb if not set',
    label: 'size',
    commands: ['ingest', 'replay', 'serve'],
  }),
  runId: runs(kinds.runId().optional(), {
    doc: 'name of the run: repeated without its checkpoint, it doubles nothing',
    label: 'name',
  }),
  timeBudget: runs(kinds.duration({ bare: false }).optional(), {
    doc: "end in time for a platform's limit: counted from the start of the process; the same command goes on",
    label: 'duration',
  }),
  byteBudget: runs(kinds.size({ min: 1000, max: 1e15 }).optional(), {
    doc: 'end before more bytes go over the wire, both ways, all of them; the same command goes on',
    label: 'size',
  }),
  grace: runs(kinds.duration({ bare: false }).prefault('25s'), {
    doc: 'how long requests under way may take once the run is to end',
    label: 'duration',
    commands: ['ingest', 'replay', 'serve'],
  }),
  again: runs(kinds.flag().prefault(false), { doc: 'load again what is loaded' }),
}

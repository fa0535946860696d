import * as kinds from '../kinds.js'
import { section, toCluster } from '../option.js'

const output = section('Output', [...toCluster, 'pull', 'login'])

export const outputOptions = {
  json: output(kinds.flag().prefault(false), {
    doc: 'one JSON object on stdout, nothing else',
    commands: ['ingest', 'replay', 'doctor', 'runs', 'verify', 'undo', 'rollback', 'filter', 'login', 'serve'],
  }),
  quiet: output(kinds.flag().prefault(false), { doc: 'no progress, errors and the result alone' }),
}

/** Pulls the documents of another cluster: what `sluice pull elasticsearch:NAME` does. */
import { formOf } from '../../base/text/source-url.js'
import { knownSecrets, withoutSecrets } from '../../base/secrets.js'
import { readFrom } from '../../options/read-options.js'
import { invalid } from '../../options/option-checks.js'
import type { OptionName } from '../../options/describe-option.js'
import { readFromAccess, readJsonOptions } from '../settings/option-files.js'
import type { Effective } from '../settings/resolve.js'
import { unlessInterrupted, interruptible } from '../terminal/interrupt.js'
import { tell } from '../terminal/log.js'
import { showPull } from '../terminal/pull-progress.js'
import { plural } from '../terminal/columns.js'
import { keepSecrets, type Terminal } from '../terminal/terminal.js'

/** Options that only apply to tables. */
const ofTables: readonly OptionName[] = ['query', 'fields', 'displayValue', 'pageSize', 'attachments']

/** Returns whether the command names an index of another cluster. Throws SluiceError OPTION_INVALID for a flag that it cannot have. */
export function namesIndex(name: string, { origins }: Effective): boolean {
  if (formOf(name) !== 'elasticsearch') return false
  const flag = ofTables.find(option => origins[option].startsWith('--'))
  if (flag !== undefined) {
    const instead = flag === 'query' ? '. Pass --from-query' : ''
    throw invalid(origins[flag], `needs a table, as in servicenow:incident${instead}`)
  }
  if (origins.proxy.startsWith('--')) throw invalid(origins.proxy, 'is the proxy of the target. Pass --from-proxy')
  return true
}

/** Throws SluiceError: see `pullDump`, and COMMAND_INTERRUPTED. */
export async function pullIndex(name: string, effective: Effective, terminal: Terminal): Promise<void> {
  const { values } = effective
  const { fromQuery } = await readJsonOptions(effective)
  const given = await readFromAccess(effective, fromQuery)
  const { proxy, ...login } = given ?? {}
  keepSecrets(terminal, knownSecrets(login, proxy?.toString()))
  using interruption = interruptible(terminal, 'stopping')
  using progress = showPull(terminal, values.quiet, 'document')
  const { signal } = interruption
  const { timeoutMs, concurrency, maxElapsedMs, output } = values
  const pulling = {
    from: readFrom({ from: given, source: name, timeoutMs, concurrency, signal }),
    maxElapsedMs,
    signal,
    onWarning: (text: string) => {
      const message = withoutSecrets(text, terminal.manner.secrets)
      tell(terminal, { level: 'warn', event: 'warning', message })
    },
    onProgress: progress.update,
  }
  const { loadPull } = await import('../../features/features-of.js')
  const { pullDump, pullDumpToFile } = await loadPull()
  const pour = async () => {
    // The number of documents that the last reader has read is unknown.
    for await (const lines of pullDump(pulling)) if (!(await terminal.pour(lines))) return
    progress.end(name)
  }
  const write = async (file: string) => {
    await pullDumpToFile({ ...pulling, output: file })
    progress.end(name, ` in ${file}`)
  }
  const left = () =>
    output === undefined ? `${plural(progress.rows, 'document')} of ${name} written` : `${output} is as it was before`
  await unlessInterrupted(signal, output === undefined ? pour() : write(output), left)
}

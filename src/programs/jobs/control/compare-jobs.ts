/** Compares a command with the open job that it joins: that job keeps what it began with. */
import { isDeepStrictEqual } from 'node:util'
import { describeOption, type OptionName } from '../../../options/describe-option.js'
import { invalid } from '../../../options/option-checks.js'
import type { JobData } from '../job.js'
import { documentsOf } from '../plan/queued-options.js'

/** Options that differ from command to command, and change nothing for a job that is open. */
const told: ReadonlySet<string> = new Set(['deadLetters'])

/** Returns the options of the command that the open job ignores. Throws SluiceError OPTION_INVALID for a command that loads something else. */
export function optionsIgnored(job: string, open: JobData, wanted: JobData): readonly string[] {
  const other = whatDiffers(open, wanted)
  if (other !== undefined)
    throw invalid(
      '--run-id',
      `names job ${job}, which is open and has ${other}. Wait for its end, cancel it with \`sluice jobs ${job} --cancel\`, or choose another name`,
    )
  const changed = ['byteBudget' as const, 'concurrency' as const].filter(name => open[name] !== wanted[name])
  const names = [...new Set([...Object.keys(open.settings), ...Object.keys(wanted.settings)])]
  const settings = names.filter(name => !told.has(name) && !same(open.settings[name], wanted.settings[name]))
  return [...new Set([...settings, ...changed])].map(name => describeOption(name as OptionName).flag ?? name).toSorted()
}

function whatDiffers(open: JobData, wanted: JobData): string | undefined {
  if (open.url !== wanted.url) return `another cluster: ${open.url}`
  if (open.from !== wanted.from) return `inputs of another cluster: ${open.from ?? 'none'}`
  if (open.index !== wanted.index) return `another index: ${open.index}`
  if (!same(open.sources, wanted.sources)) return 'other inputs'
  const [one, other] = [documentsOf(open.settings), documentsOf(wanted.settings)]
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  const name = names.find(key => !same(one[key], other[key]))
  return name === undefined ? undefined : `another value of ${describeOption(name as OptionName).flag ?? name}`
}

/** Compares two values as JSON: entries of the queue have no fields that are undefined. */
function same(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(plain(one), plain(other))
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

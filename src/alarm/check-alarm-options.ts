import type { AlarmOptions } from './alarm-options.js'
import { invalid } from '../options/candidate.js'
import * as check from '../options/option-checks.js'
import { incidentFieldProblem, jobProblem } from '../options/names.js'

const options = {
  servicenow: check.anything,
  proxy: check.anything,
  job: value => check.string(value) ?? jobProblem(String(value)),
  title: check.name,
  command: check.string,
  host: check.name,
  fields: value => check.jsonObject(value) ?? problemInFields(value),
  allowRejected: check.flag,
  timeoutMs: check.whole(1, 2 ** 31 - 1),
  signal: check.signal,
} satisfies Record<keyof AlarmOptions, check.Check>

/** Throws SluiceError OPTION_INVALID. Instance and proxy are checked when the instance is opened. */
export function checkAlarmOptions(given: AlarmOptions): void {
  const found = check.problemIn(given, options)
  if (found !== undefined) throw invalid(found.option ?? 'alarm', found.problem)
  for (const name of ['servicenow', 'job'] as const) if (given[name] === undefined) throw invalid(name, 'is not set')
}

function problemInFields(fields: unknown): string | undefined {
  for (const [name, value] of Object.entries(fields as Record<string, unknown>)) {
    if (typeof value !== 'string') return `has a value of ${name} that is not a string`
    const problem = incidentFieldProblem(name)
    if (problem !== undefined) return problem
  }
  return undefined
}

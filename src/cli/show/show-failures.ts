/** Prints entries of the catalogue for `sluice explain`. */
import { type Entry, type FailureCode, explain, failureCodes } from '../../failure/catalogue.js'
import { exampleOf } from '../../failure/failure.js'
import type { Found } from '../../failure/look-up.js'
import { stages } from '../../failure/entry.js'
import type { Symptom } from '../../failure/symptoms.js'
import { columns } from './columns.js'

/** Every code with its title, by part of the path. */
export function showAll(): string {
  const widest = Math.max(...failureCodes.map(code => code.length))
  return Object.entries(stages)
    .map(([stage, title]) => {
      const codes = failureCodes.filter(code => explain(code).stage === stage)
      const rows = codes.map(code => [code.padEnd(widest), exitOf(code).padEnd(7), explain(code).title])
      return `${title}\n${columns(rows, '  ')}`
    })
    .join('\n')
}

function exitOf(code: FailureCode): string {
  const { exit, isNotice } = explain(code)
  return isNotice === true ? 'notice' : `exit ${exit}`
}

/** All that is known of one failure. */
export function showFailure(code: FailureCode): string {
  const { title, observed, causes, fixes, isNotice } = explain(code)
  return [
    `${code}: ${title}`,
    '',
    'For example',
    `  ${isNotice === true ? '' : 'error: '}${exampleOf(code)}`,
    '',
    'How it shows elsewhere',
    `  ${observed}`,
    '',
    'Causes, most likely first',
    ...causes.map(cause => `  - ${cause}`),
    '',
    'What to change',
    ...fixes.map(fix => `  - ${fix}`),
    '',
    ending(explain(code)),
    '',
  ].join('\n')
}

function ending({ exit, retry, isNotice }: Entry): string {
  if (isNotice === true) return 'A notice: it ends no run. `sluice doctor` reports it.'
  const again =
    retry === 'later'
      ? 'the same command may succeed later'
      : 'the same command fails again until somebody changes something'
  return `Exit code ${exit}: ${again}.`
}

/** Lists symptoms, each with its possible failures. */
export function showSymptoms(list: readonly Symptom[]): string {
  return list.map(showSymptom).join('\n')
}

/** Lists symptoms first, then failures without a symptom. */
export function showFound({ symptoms, codes }: Found): string {
  const named = new Set(symptoms.flatMap(symptom => symptom.codes))
  const others = codes.filter(code => !named.has(code))
  return [
    ...(symptoms.length === 0 ? [] : [showSymptoms(symptoms)]),
    ...(others.length === 0 ? [] : [`${symptoms.length === 0 ? 'Failures' : 'Other failures'}\n${titles(others)}`]),
    'More on each: sluice explain CODE\n',
  ].join('\n')
}

const places = {
  proxy: 'At the proxy',
  cluster: 'At the cluster',
  instance: 'At the instance',
  anywhere: 'Anywhere',
} as const

function showSymptom({ where, symptom, when, codes, note }: Symptom): string {
  return [`${places[where]}: ${symptom}\n`, `  ${when}\n`, titles(codes), `  ${note}\n`].join('')
}

function titles(codes: readonly FailureCode[]): string {
  const rows = codes.map(code => [code, explain(code).title])
  return columns(rows, '    ')
}

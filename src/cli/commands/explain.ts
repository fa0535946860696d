import type { Command } from 'commander'
import {
  type Entry,
  exampleOf,
  explain,
  fail,
  type FailureCode,
  failureCodes,
  SluiceError,
  stages,
} from '../../base/failure/failure.js'
import { type Found, lookUp, type Symptom, symptoms } from '../../base/failure/symptoms.js'
import type { IndexError } from '../../base/failure/index-errors.js'
import { nearest } from '../../base/text/shown.js'
import { columns } from '../terminal/columns.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineExplain(command: Command, terminal: Terminal, done: (code: number) => void): void {
  command
    .argument(
      '[code...]',
      'failure code, error type of Elasticsearch, or words of an error message. Default: list all codes',
    )
    .option('--symptoms', 'list symptoms in other tools, with their possible codes')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  sluice explain EGRESS_PARTLY_ALLOWED',
        '  sluice explain 407',
        '  sluice explain request aborted',
        '  sluice explain document_parsing_exception',
        '  sluice explain | grep PROXY',
      ].join('\n'),
    )
    .action((words: string[], options: { json?: boolean; symptoms?: boolean }) => {
      terminal.out(answer(words.join(' '), options))
      done(0)
    })
}

function answer(text: string, { json = false, symptoms: bySymptom = false }: { json?: boolean; symptoms?: boolean }) {
  if (text === '' && bySymptom) return json ? asJson({ symptoms }) : showSymptoms(symptoms)
  if (text === '') return json ? asJson({ failures: failureCodes.map(whole) }) : showAll()
  const code = codeOf(text)
  if (code !== undefined) return json ? asJson(whole(code)) : showFailure(code)
  const found = lookUp(text)
  if (found.symptoms.length + found.codes.length + found.errors.length === 0) throw unknown(text)
  return json ? asJson(inFull(found)) : showFound(found)
}

function codeOf(text: string): FailureCode | undefined {
  const wanted = spelled(text)
  return failureCodes.find(code => code === wanted)
}

function spelled(text: string): string {
  return text.toUpperCase().replaceAll('-', '_')
}

function unknown(text: string): SluiceError {
  const near = nearest(spelled(text), failureCodes)
  const hint = near === undefined ? ', and no failure mentions it' : `. Did you mean ${near}?`
  const problem = `'${text}' is not a failure code${hint}`
  return fail('OPTION_INVALID', { option: 'sluice explain', problem })
}

function inFull(found: Found) {
  return { symptoms: found.symptoms, failures: found.codes.map(whole), errors: found.errors }
}

function whole(code: FailureCode) {
  return { code, ...explain(code), example: exampleOf(code) }
}

function asJson(value: object): string {
  return `${JSON.stringify(value)}\n`
}

/** Every code with its title, by part of the path. */
function showAll(): string {
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

function showFailure(code: FailureCode): string {
  const { title, observed, causes, fixes, isNotice } = explain(code)
  return [
    `${code}: ${title}`,
    '',
    'For example',
    `  ${isNotice === true ? '' : 'error: '}${exampleOf(code)}`,
    '',
    'In other tools',
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
  if (isNotice === true) return 'This is a notice. It does not end a run. `sluice doctor` reports it.'
  const again =
    retry === 'later'
      ? 'the same command may succeed later'
      : 'the same command fails again until somebody changes something'
  return `Exit code ${exit}: ${again}.`
}

function showSymptoms(list: readonly Symptom[]): string {
  return list.map(showSymptom).join('\n')
}

/** Lists errors of Elasticsearch and symptoms first, then failures without a symptom. */
function showFound({ symptoms, codes, errors }: Found): string {
  const named = new Set(symptoms.flatMap(symptom => symptom.codes))
  const others = codes.filter(code => !named.has(code))
  const isOnlyErrors = symptoms.length + codes.length === 0
  return [
    ...errors.map(showIndexError),
    ...(symptoms.length === 0 ? [] : [showSymptoms(symptoms)]),
    ...(others.length === 0 ? [] : [`${symptoms.length === 0 ? 'Failures' : 'Other failures'}\n${titles(others)}`]),
    ...(isOnlyErrors ? [] : ['More on each: sluice explain CODE\n']),
  ].join('\n')
}

const places = {
  proxy: 'At the proxy',
  cluster: 'At the cluster',
  instance: 'At ServiceNow',
  anywhere: 'Anywhere',
} as const

function showIndexError({ type, meaning, fix }: IndexError): string {
  return `${type}: Elasticsearch rejected a document\n  ${meaning}\n  ${fix}\n`
}

function showSymptom({ where, symptom, when, codes, note }: Symptom): string {
  return [`${places[where]}: ${symptom}\n`, `  ${when}\n`, titles(codes), `  ${note}\n`].join('')
}

function titles(codes: readonly FailureCode[]): string {
  const rows = codes.map(code => [code, explain(code).title])
  return columns(rows, '    ')
}

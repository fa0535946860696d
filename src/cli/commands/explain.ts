import type { Command } from 'commander'
import { fail } from '../../failure/fail.js'
import { type FailureCode, explain, failureCodes } from '../../failure/catalogue.js'
import { exampleOf } from '../../failure/failure.js'
import { type Found, lookUp } from '../../failure/look-up.js'
import { SluiceError } from '../../failure/sluice-error.js'
import { symptoms } from '../../failure/symptoms.js'
import { nearest } from '../../options/nearest.js'
import { showAll, showFailure, showFound, showSymptoms } from '../show/show-failures.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineExplain(command: Command, terminal: Terminal, done: (code: number) => void): void {
  command
    .argument('[code...]', 'failure code, or words of an error message. Default: list all codes')
    .option('--symptoms', 'list symptoms in other tools, and their possible codes')
    .option('--json', 'print one JSON object on stdout')
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  sluice explain EGRESS_PARTLY_ALLOWED',
        '  sluice explain 407',
        '  sluice explain request aborted',
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
  if (found.symptoms.length + found.codes.length === 0) throw unknown(text)
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
  return { symptoms: found.symptoms, failures: found.codes.map(whole) }
}

/** Returns everything about a failure, with placeholders in its message. */
function whole(code: FailureCode) {
  return { code, ...explain(code), example: exampleOf(code) }
}

function asJson(value: object): string {
  return `${JSON.stringify(value)}\n`
}

import type { CommanderError } from 'commander'
import { failure } from '../../base/failure/failure.js'
import { nearest, shown } from '../../base/text/shown.js'
import { optionsOf } from '../../options/describe-option.js'
import { masked } from '../../base/secrets.js'
import { failedJson, stopOf } from './say-error.js'
import { tell } from '../terminal/log.js'
import type { Terminal } from '../terminal/terminal.js'

interface Usage {
  readonly verb: string | undefined
  readonly verbs: readonly string[]
  readonly args: readonly string[]
}

/** Reports an error of the parser as wrong usage (exit 2), with a suggestion if possible. */
export function sayUsageError(terminal: Terminal, error: CommanderError, usage: Usage): number {
  const { verb } = usage
  const where = verb === undefined ? 'sluice' : `sluice ${verb}`
  if (error.code === 'commander.help') {
    terminal.err(`error: no command given\n`)
    return 2
  }
  const problem = problemOf(error, usage)
  const known = masked(failure('OPTION_INVALID', { option: where, problem }), terminal.manner.secrets)
  tell(terminal, stopOf(known, { text: shown`error: ${known.message}\n  more:  ${where} --help\n` }))
  if (terminal.manner.json) terminal.out(failedJson(terminal, known))
  return 2
}

function problemOf(error: CommanderError, { verb, verbs, args }: Usage): string {
  if (error.code === 'commander.unknownOption') {
    // The parser's own message holds the whole argument, and with it a value that may be a secret.
    const argument = /'(-[^']*)'/.exec(error.message)?.[1] ?? ''
    const name = argument.startsWith('--') ? argument.replace(/=.*$/s, '') : argument.slice(0, 2)
    const flags = optionsOf(verb ?? '').flatMap(({ flag, replaced }) => (replaced === undefined ? (flag ?? '') : []))
    if (flags.includes(name)) return `${name} takes no value`
    // `--ca-file` means `--ca`, which takes a file.
    const shorter = flags.find(flag => flag.length > 2 && name.startsWith(`${flag}-`))
    return `unknown option ${name}${meant(shorter ?? nearest(name, flags))}`
  }
  if (error.code === 'commander.unknownCommand' || (verb === undefined && error.code === 'commander.excessArguments')) {
    const word = args.filter(arg => !arg.startsWith('-'))[verb === undefined ? 0 : 1] ?? ''
    if (verb !== undefined) return `cannot do '${word}'`
    return `unknown command '${word}'${meant(nearest(word, verbs))}`
  }
  return error.message.replace(/^error: /, '')
}

function meant(near: string | undefined): string {
  return near === undefined ? '' : `. Did you mean ${near}?`
}

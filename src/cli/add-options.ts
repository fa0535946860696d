import { type Command, Option } from 'commander'
import type { OptionCommand } from '../options/option.js'
import { type OptionView, optionsOf } from '../options/view.js'

/**
 * Gives a command the flags that the schema has for it. The parser gets neither defaults nor environment: which of flag,
 * environment, file and default counts is decided in one place, by `resolveOptions`.
 */
export function addOptions(command: Command, name: OptionCommand): Command {
  for (const view of optionsOf(name)) {
    const flag = view.label === undefined ? `${view.flag}` : `${view.flag} <${view.label}>`
    const option = new Option(flag, describe(view)).helpGroup(`${view.group}:`)
    // A name that begins with "no" is a switch like any other: it turns nothing off that was on by the parser's own default.
    option.negate = false
    command.addOption(option)
  }
  return command
}

function describe({ doc, default: preset, env }: OptionView): string {
  const elsewhere = env.slice(1)
  const notes = [
    ...(preset === undefined ? [] : [`default: ${preset}`]),
    ...(elsewhere.length === 0 ? [] : [`env: ${elsewhere.join(', ')}`]),
  ]
  return notes.length === 0 ? doc : `${doc} (${notes.join('; ')})`
}

import { type Command, Option } from 'commander'
import type { OptionCommand } from '../options/option.js'
import { type OptionView, optionsOf } from '../options/view.js'

/**
 * Gives a command the flags that the table has for it. `--help` shows those that a first user needs, `--help-all` shows all. The parser
 * gets neither defaults nor environment: `resolveOptions` alone decides which of flag, environment, file and default counts.
 */
export function addOptions(command: Command, name: OptionCommand): Command {
  const added = optionsOf(name).map(view => {
    const flag = view.label === undefined ? `${view.flag}` : `${view.flag} <${view.label}>`
    const option = new Option(flag, view.doc).helpGroup(`${view.group}:`)
    // A name that begins with "no" is a switch like any other: the parser has no default to turn off.
    option.negate = false
    option.hidden = !view.first.includes(name)
    command.addOption(option)
    return { option, view }
  })
  if (added.every(({ option }) => !option.hidden)) return command
  const showAll = () => {
    for (const { option, view } of added) {
      option.hidden = false
      option.description = inFull(view)
    }
    command.help()
  }
  return command.option('--help-all', `show all ${added.length} options`).on('option:help-all', showAll)
}

function inFull({ doc, default: preset, env }: OptionView): string {
  const [, ...elsewhere] = env
  const notes = [
    ...(preset === undefined ? [] : [`default: ${preset}`]),
    ...(elsewhere.length === 0 ? [] : [`env: ${elsewhere.join(', ')}`]),
  ]
  return notes.length === 0 ? doc : `${doc} (${notes.join('; ')})`
}

import type { Command } from 'commander'
import type { Effective } from '../settings/resolve.js'
import { hidden, misplacedIn } from '../../base/secrets.js'
import { isReplaced, type OptionName, optionNames, shownOption } from '../../options/describe-option.js'
import { addOptions } from '../terminal/help.js'
import { columns } from '../terminal/columns.js'
import { loadOptions, sayWarnings } from '../application/load-options.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineConfig(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command, 'config')
    .addHelpText('after', '\nExamples:\n  sluice config\n  sluice config --url https://localhost:9200 --json')
    .action(async (flags: Record<string, unknown>) => {
      const effective = await loadOptions(flags, terminal)
      sayWarnings(effective, terminal)
      terminal.out(effective.values.json ? asJson(effective) : table(effective))
      done(0)
    })
}

/** Returns a value as it may be shown. The user name may be the password in the wrong place. */
function shown(name: OptionName, values: Effective['values']) {
  const { username, password } = values
  const isSecret = name === 'username' && username !== undefined && misplacedIn({ username, password }) !== undefined
  return isSecret ? hidden : shownOption(name, values[name])
}

/** An old spelling is only shown if its value is in force. */
function namesIn({ origins }: Effective): readonly OptionName[] {
  return optionNames.filter(name => !isReplaced(name) || origins[name] !== 'default')
}

function table(effective: Effective): string {
  const { values, origins } = effective
  const rows = namesIn(effective).map(name => {
    const value = shown(name, values)
    return [name, value === undefined ? '-' : typeof value === 'string' ? value : JSON.stringify(value), origins[name]]
  })
  return columns([['option', 'value', 'from'], ...rows])
}

function asJson(effective: Effective): string {
  const { values, origins, warnings } = effective
  const options = namesIn(effective).map(name => [name, { value: shown(name, values) ?? null, from: origins[name] }])
  return `${JSON.stringify({ options: Object.fromEntries(options), warnings })}\n`
}

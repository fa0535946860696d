import type { Check } from './option-checks.js'
import type { OptionCommand, OptionRow } from './option.js'
import { type OptionName, optionNames, table } from './table.js'
import { hidden, withoutCredentials } from './hide-secrets.js'

/** An option as flags, environment, file, help and docs see it. */
export interface OptionView {
  readonly name: OptionName
  /** For example `--batch-bytes`. Absent if only the environment sets this option. */
  readonly flag?: string
  /** The key of the parsed command line: `batchBytes`. Also the key that the configuration file had before. */
  readonly flagKey: string
  readonly label?: string
  /** All names in the environment. The first one that is set counts. */
  readonly env: readonly string[]
  readonly group: string
  readonly doc: string
  /** In the form that a person would write. */
  readonly default?: string
  readonly secret?: 'value' | 'url'
  readonly commands: readonly OptionCommand[]
  /** Commands whose short help shows it. */
  readonly first: readonly OptionCommand[]
}

/** Each is asked for several times before a command begins. */
const views = new Map<OptionName, OptionView>()

export function viewOption(name: OptionName): OptionView {
  const view = views.get(name) ?? viewOf(name)
  views.set(name, view)
  return view
}

function viewOf(name: OptionName): OptionView {
  const row: OptionRow<unknown> = table[name]
  const { label, secret, environmentOnly, first = [] } = row
  const preset = label === undefined ? undefined : row.default
  const flag = row.flag ?? `--${words(name).join('-')}`
  const commands = [...row.commands, 'config'] as const
  return {
    name,
    ...(environmentOnly ? {} : { flag }),
    flagKey: flag.slice(2).replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
    ...(label === undefined ? {} : { label }),
    env: [
      ...(environmentOnly ? [] : [`SLUICE_${flag.slice(2).replaceAll('-', '_').toUpperCase()}`]),
      ...(row.env ?? []),
    ],
    group: row.group,
    doc: row.doc,
    ...(preset === undefined ? {} : { default: preset }),
    ...(secret === undefined ? {} : { secret }),
    commands,
    first: first === true ? row.commands : first,
  }
}

/** The options that a command takes as flags, in the order of the table. */
export function optionsOf(command: OptionCommand): readonly OptionView[] {
  return optionNames.map(viewOption).filter(view => view.flag !== undefined && view.commands.includes(command))
}

/**
 * Returns the checks for one section of the library's options: `target`, `proxy`, `servicenow`, `table`, or an empty
 * string for the top level.
 */
export function checksAt(section: string): Readonly<Record<string, Check>> {
  return Object.fromEntries(
    optionNames.flatMap(name => {
      const { as = name, kind }: OptionRow<unknown> = table[name]
      const [last = '', within = ''] = as === false ? [] : as.split('.').toReversed()
      return as !== false && within === section ? [[last, kind.check]] : []
    }),
  )
}

/** The option behind a name in the library: `target.url`, `timeoutMs`, or `path` of a receiver. */
export function optionAs(libraryName: string): OptionName | undefined {
  const wanted = [libraryName, `serve.${libraryName}`, `doctor.${libraryName}`]
  return (
    optionNames.find(name => {
      const { as = name }: OptionRow<unknown> = table[name]
      return as !== false && wanted.includes(as)
    }) ?? optionNames.find(name => name === libraryName)
  )
}

function words(name: string): string[] {
  return name.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`).split(' ')
}

/** The value of an option as it may be shown: secrets hidden, and the credentials inside a URL. */
export function shownOption(name: OptionName, value: unknown): unknown {
  if (value === undefined) return undefined
  const { secret } = viewOption(name)
  if (secret === 'value') return hidden
  return secret === 'url' && typeof value === 'string' ? withoutCredentials(value) : value
}

/** What the table says of each option, with all that follows from its name. */
import { type Check, invalid } from './option-checks.js'
import type { OptionCommand, OptionRow, LoadSection } from './option.js'
import { table } from './table.js'
import { hidden, withoutCredentials } from '../base/secrets.js'
import { Problem } from './kinds.js'

export type OptionName = keyof typeof table

export const optionNames = Object.keys(table) as readonly OptionName[]

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(table, name)
}

type Row<K extends OptionName> = (typeof table)[K]

/** Every option in force. Bytes, and milliseconds for durations. */
export type Settings = { readonly [K in OptionName]: Row<K> extends OptionRow<infer V> ? V : never }

/** Options whose setting is never undefined. */
export type SetAlways = { [K in OptionName]: undefined extends Settings[K] ? never : K }[OptionName]

/** Options that are never undefined behind the door. */
export type Defaulted =
  | SetAlways
  | { [K in OptionName]: Row<K> extends { readonly otherwise: unknown } ? K : never }[OptionName]

/** Options that a section of a load holds as they are. */
export type StagedIn<S extends LoadSection> = {
  [K in OptionName]: Row<K> extends { readonly stage: S } ? K : never
}[OptionName]

/** Options whose value is JSON, or a file that holds it. */
export type JsonOption = { [K in OptionName]: Row<K> extends { readonly file: 'json' } ? K : never }[OptionName]

/** Options that may also be the contents of a file, which a second option `…File` names. */
export type Secret = { [K in OptionName]: `${K}File` extends OptionName ? K : never }[OptionName]

export const secrets = optionNames.filter((name): name is Secret => `${name}File` in table)

/** A row of the table with its name, and with all that follows from the name. */
export interface DescribedOption extends Omit<
  OptionRow<unknown>,
  'flag' | 'env' | 'commands' | 'first' | 'label' | 'default' | 'orElse' | 'alsoNeeds' | 'replaced'
> {
  readonly name: OptionName
  readonly orElse: OptionName | undefined
  readonly alsoNeeds: readonly OptionName[] | undefined
  readonly replaced: { readonly by: OptionName; readonly as?: string; readonly own?: string } | undefined
  /** How help shows the value. A switch has none. */
  readonly label: string | undefined
  readonly default: string | undefined
  /** For example `--batch-bytes`. Undefined if only the environment sets this option. */
  readonly flag: string | undefined
  /** The key of the parsed command line: `batchBytes`. Also the key that the configuration file had before. */
  readonly flagKey: string
  /** All names in the environment. The first one that is set counts. */
  readonly env: readonly string[]
  readonly commands: readonly OptionCommand[]
  readonly first: readonly OptionCommand[]
  /** Place in the options of the library: section and name. The section of the top level is ''. */
  readonly place: { readonly section: string; readonly name: string } | undefined
}

/** Commands ask for each option several times. */
const described = new Map<OptionName, DescribedOption>()

export function describeOption(name: OptionName): DescribedOption {
  const known = described.get(name) ?? describe(name)
  described.set(name, known)
  return known
}

function describe(name: OptionName): DescribedOption {
  const row: OptionRow<unknown> = table[name]
  const { kind, environmentOnly, env = [], first = [], section = '', as = name } = row
  const words = name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
  const flag = row.flag ?? `--${words}`
  return {
    ...row,
    name,
    // A test checks the names that rows hold.
    orElse: row.orElse as OptionName | undefined,
    alsoNeeds: row.alsoNeeds as readonly OptionName[] | undefined,
    replaced: row.replaced as DescribedOption['replaced'],
    label: row.label ?? kind.label,
    default: row.default ?? kind.default,
    flag: environmentOnly ? undefined : flag,
    flagKey: flag.slice(2).replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
    env: environmentOnly ? env : [`SLUICE_${flag.slice(2).replaceAll('-', '_').toUpperCase()}`, ...env],
    commands: [...row.commands, 'config'],
    first: first === true ? row.commands : first,
    place: as === false ? undefined : { section, name: as },
  }
}

/** Reads what a person wrote. Undefined: the default. */
export function readSetting(
  name: OptionName,
  raw: unknown,
): { readonly value: unknown } | { readonly problem: string } {
  const { kind, default: preset } = describeOption(name)
  const given = raw === undefined ? preset : raw
  if (given === undefined) return { value: undefined }
  const value = kind.read(given)
  return value instanceof Problem ? { problem: value.text } : { value }
}

/** Returns whether an option is an old spelling, whose value stands in that of another one now. */
export function isReplaced(name: OptionName): boolean {
  return describeOption(name).replaced !== undefined
}

/** Options whose value may hold those of others. */
const carriers = optionNames.filter(name => table[name].kind.apart !== undefined)

/**
 * Returns the options of a program with each value under its own option: `plan: { bytes, day }` becomes `plan` and `planDay`. Throws
 * SluiceError OPTION_INVALID for a part that is also given by itself.
 */
export function takenApart<T extends object>(given: T, section = ''): Apart<T> {
  const options = { ...given } as Record<string, unknown>
  for (const name of carriers) {
    const { place, kind } = describeOption(name)
    const value = place?.section === section ? options[place.name] : undefined
    const parts = value === undefined || kind.check(value) !== undefined ? undefined : kind.apart?.(value)
    if (place === undefined || parts === undefined) continue
    // The text was taken apart before, and holds a comma of its own.
    if (
      kind.mayBeWhole === true &&
      Object.keys(parts).some(part => part !== name && isGiven(part as OptionName, options))
    )
      continue
    delete options[place.name]
    for (const [option, part] of Object.entries(parts) as [OptionName, unknown][]) {
      const { name: key = option } = describeOption(option).place ?? {}
      if (options[key] !== undefined) throw invalid(key, `is also part of ${place.name}. Leave one out`)
      options[key] = part
    }
  }
  return options as Apart<T>
}

function isGiven(name: OptionName, options: Readonly<Record<string, unknown>>): boolean {
  return options[describeOption(name).place?.name ?? name] !== undefined
}

/** Options of a program whose values were taken apart. */
export type Apart<T> = {
  [K in keyof T]: K extends 'plan' | 'keepRuns' | 'deletions' | 'script' ? Exclude<T[K], object> : T[K]
}

/** The options that a command takes as flags, in the order of the table. */
export function optionsOf(command: string): readonly DescribedOption[] {
  return optionNames
    .map(describeOption)
    .filter(({ flag, commands }) => flag !== undefined && commands.some(one => one === command))
}

/** Returns the options of a section of the library's. */
export function placedIn(
  section: string,
): readonly (DescribedOption & { readonly place: { readonly name: string } })[] {
  return optionNames
    .map(describeOption)
    .filter(
      (row): row is DescribedOption & { place: NonNullable<DescribedOption['place']> } =>
        row.place?.section === section,
    )
}

export function checksAt(section: string): Readonly<Record<string, Check>> {
  return Object.fromEntries(placedIn(section).map(({ place, kind }) => [place.name, kind.check]))
}

/** The option behind a name in the library: `target.url`, `timeoutMs`, or `path` of a receiver. */
export function optionAs(libraryName: string): OptionName | undefined {
  const wanted = [libraryName, `serve.${libraryName}`, `doctor.${libraryName}`]
  const isMeant = ({ place }: DescribedOption) =>
    place !== undefined && wanted.includes(place.section === '' ? place.name : `${place.section}.${place.name}`)
  return optionNames.find(name => isMeant(describeOption(name))) ?? optionNames.find(name => name === libraryName)
}

/** Returns the options that a section of a load holds as they are. */
export function stagedIn<S extends LoadSection>(stage: S): readonly StagedIn<S>[] {
  return optionNames.filter((name): name is StagedIn<S> => describeOption(name).stage === stage)
}

/** Options of a load whose values change what Sluice sends for a document, and so the identity of a run. */
export const sentOptions = [...stagedIn('documents'), ...stagedIn('inputs')].filter(
  name => describeOption(name).queued === 'documents',
)

/** The value of an option as it may be shown: secrets hidden, and the credentials inside a URL. */
export function shownOption(name: OptionName, value: unknown): unknown {
  if (value === undefined) return undefined
  const { secret } = describeOption(name)
  if (secret === 'value') return hidden
  return secret === 'url' && typeof value === 'string' ? withoutCredentials(value) : value
}

/** Defaults of the table, and those that only the library has. */
export const defaults = Object.fromEntries(optionNames.map(name => [name, defaultOf(name)])) as {
  readonly [K in Defaulted]: Exclude<Settings[K], undefined>
}

function defaultOf(name: OptionName): unknown {
  const { kind, default: preset, otherwise } = describeOption(name)
  const read = preset === undefined ? otherwise : kind.read(preset)
  if (read instanceof Problem) throw new Error(`the default of ${name} cannot be read: ${read.text}`)
  return read
}

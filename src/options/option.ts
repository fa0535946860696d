import type { Kind } from './kinds.js'

/** Commands that connect to the cluster. */
export const toCluster = [
  'ingest',
  'replay',
  'doctor',
  'verify',
  'undo',
  'rollback',
  'untune',
  'filter',
  'serve',
  'tunnel',
  'run',
  'init',
  'worker',
] as const

/** Commands that take options of the table. `lab` and `demo` have flags of their own. */
export const optionCommands = [...toCluster, 'runs', 'infer', 'pull', 'login', 'jobs', 'config'] as const
export type OptionCommand = (typeof optionCommands)[number]

export interface OptionRow<V> {
  readonly kind: Kind<unknown>
  /** In the form that a person would write. Absent: the default of the kind, if it has one. */
  readonly default?: string
  readonly group: string
  readonly doc: string
  /** How help shows the value. Absent: as the kind says. */
  readonly label?: string
  /** Set if it does not follow from the name: `--timeout` of `timeoutMs`. The variable SLUICE_… follows from the flag. */
  readonly flag?: `--${string}`
  /** Its flag of one character. */
  readonly short?: `-${string}`
  /** Names in the environment in addition to SLUICE_…. The first one that is set counts. */
  readonly env?: readonly string[]
  /** Never shown: the whole value, or the credentials inside a URL. */
  readonly secret?: 'value' | 'url'
  /** Set by the system for all programs: without a flag, a SLUICE_… name or a key of the file. */
  readonly environmentOnly?: true
  /** Section of the library's options, such as `target`. Absent: the top level. */
  readonly section?: string
  /** Name in that section, if it is not the option's own. False: the library has no such option. */
  readonly as?: string | false
  /** Commands that take the option. `config` takes all options. */
  readonly commands: readonly Exclude<OptionCommand, 'config'>[]
  /** Commands whose short help shows the option. `true`: all commands that take it. */
  readonly first?: true | readonly OptionCommand[]
  /** Commands in which its value may be left out. */
  readonly optionalIn?: readonly OptionCommand[]
  /** Only for the type of the value. */
  readonly value?: V
}

type Meta = Omit<OptionRow<unknown>, 'kind' | 'group' | 'doc' | 'commands' | 'value'> & {
  readonly commands?: OptionRow<unknown>['commands']
}

/** Makes the rows under one heading of help. They share commands and `shared`, unless a row says otherwise. */
export function group(
  heading: string,
  commands: OptionRow<unknown>['commands'],
  shared: Pick<OptionRow<unknown>, 'section' | 'as'> = {},
) {
  return <T, const M extends Meta>(
    kind: Kind<T>,
    doc: string,
    meta?: M,
  ): OptionRow<M extends { readonly default: string } ? T : [T] extends [boolean] ? T : T | undefined> => ({
    kind,
    group: heading,
    doc,
    commands,
    ...shared,
    ...meta,
  })
}

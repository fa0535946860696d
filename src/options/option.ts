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

/** Sections of a load that hold options as they are, each under its name. `load.ts` adds what is made of others. */
export type LoadSection =
  | 'connecting'
  | 'inputs'
  | 'documents'
  | 'batching'
  | 'retrying'
  | 'stopping'
  | 'traffic'
  | 'state'
  | 'preparing'
  | 'guarded'
  | 'deletions'
  | 'follow'

export interface OptionRow<V> {
  readonly kind: Kind<unknown>
  /** In the form that a person would write. Absent: the default of the kind, if it has one. */
  readonly default?: string
  readonly group: string
  readonly doc: string
  /** What the library takes if it is not set and there is no `default`. Help shows nothing. */
  readonly otherwise?: unknown
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
  /** Section of a load that gets it. False or absent: `read-options.ts` makes something else of it, or no load has it. */
  readonly stage?: LoadSection | false
  /**
   * Set if it goes to the queue with a job. `documents`: another value makes other documents, and so another job. In the stages `inputs`
   * and `documents` it also makes another run. `loading`: it only says how they are loaded.
   */
  readonly queued?: 'documents' | 'loading' | false
  /**
   * The value of the command line names a file, or may name one. `json`: JSON, or a file that holds it. Sluice sends it to the cluster.
   * `text`: a file whose text Sluice sends. `written`: a file or folder that Sluice writes. `run`: a command or a module.
   */
  readonly file?: 'json' | 'text' | 'written' | 'run'
  /** The option that says the same in another way. The one of the stronger source counts. */
  readonly orElse?: string
  /** The command also needs one of these. */
  readonly alsoNeeds?: readonly string[]
  /** A program also needs this option, and why. The command has a default for it. */
  readonly needs?: Readonly<Record<string, string>>
  /** Options that it cannot be combined with, and why. */
  readonly excludes?: Readonly<Record<string, string>>
  /** Why many workers cannot load with it. */
  readonly notByWorkers?: string
  /** Why `replay` refuses it, if that is no command of it. Absent: `replay` ignores it. */
  readonly notInReplay?: string
  /** Commands that take the option. `config` takes all options. */
  readonly commands: readonly Exclude<OptionCommand, 'config'>[]
  /** Commands whose short help shows the option. `true`: all commands that take it. */
  readonly first?: true | readonly OptionCommand[]
  /** Commands in which its value may be left out. */
  readonly optionalIn?: readonly OptionCommand[]
  /**
   * Set for an old spelling, which works until the next major version. `by`: the option that replaces it. `as`: its value there, with VALUE for
   * the old one, and OWN for what that option itself is set to, or else `own`. Absent: that option needs nothing more. Help, completion and
   * suggestions leave out an old spelling.
   */
  readonly replaced?: { readonly by: string; readonly as?: string; readonly own?: string }
  /** Only for the type of the value. */
  readonly value?: V
}

type Commands = OptionRow<unknown>['commands']
type Meta = Omit<OptionRow<unknown>, 'kind' | 'group' | 'doc' | 'commands' | 'value'> & {
  readonly commands?: Commands
}
type Shared = Pick<Meta, 'section' | 'as' | 'stage' | 'queued' | 'notInReplay'>

/** Columns whose values are also types: the sections of a load and the tests of the library derive from them. */
type Column = 'section' | 'as' | 'stage' | 'otherwise' | 'notInReplay' | 'file' | 'commands'
type Columns<S, M> = {
  readonly [K in Column & (keyof S | keyof M)]: K extends keyof M ? M[K] : K extends keyof S ? S[K] : never
}
type ValueOf<T, M> = M extends { readonly default: string } ? T : [T] extends [boolean] ? T : T | undefined

type Row<T, S, M> = OptionRow<ValueOf<T, M>> & Columns<S, M>

/** Makes the rows under one heading of help. They share commands and `shared`, unless a row says otherwise. */
export function group<const C extends Commands, const S extends Shared = object>(
  heading: string,
  commands: C,
  shared?: S,
) {
  type All = S & { readonly commands: C }
  return <T, const M extends Meta = object>(kind: Kind<T>, doc: string, meta?: M): Row<T, All, NoInfer<M>> => {
    const row: unknown = { kind, group: heading, doc, commands, ...shared, ...meta }
    // The two say the same of each column.
    return row as Row<T, All, NoInfer<M>>
  }
}

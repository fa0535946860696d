import { z } from 'zod'

/** Commands that take options of the schema. `lab` and `demo` have flags of their own. */
export const optionCommands = [
  'ingest',
  'replay',
  'doctor',
  'runs',
  'verify',
  'undo',
  'rollback',
  'filter',
  'pull',
  'login',
  'serve',
  'config',
] as const
export type OptionCommand = (typeof optionCommands)[number]

/** Commands that connect to the cluster. */
export const toCluster = ['ingest', 'replay', 'doctor', 'verify', 'undo', 'rollback', 'filter', 'serve'] as const

/** What an option is besides its kind. The flag and SLUICE_… follow from the option's name. */
interface OptionMeta {
  /** Heading in help. */
  readonly group: string
  readonly doc: string
  /** How help shows the value; options without one are switches. */
  readonly label?: string
  /** Names in the environment besides SLUICE_…, the first that is set counts. */
  readonly env?: readonly string[]
  /** Never shown: the whole value, or the credentials inside a URL. */
  readonly secret?: 'value' | 'url'
  /** Has neither a flag nor a SLUICE_… name nor a place in the file: set by the system for all programs. */
  readonly environmentOnly?: true
  /** Besides `config`, which takes all of them. */
  readonly commands: readonly Exclude<OptionCommand, 'config'>[]
}

const metas = z.registry<OptionMeta>()

/** Makes the options of one section of help, which the same commands take unless an option says otherwise. */
export function section(group: string, commands: OptionMeta['commands']) {
  return <S extends z.ZodType>(schema: S, meta: Omit<OptionMeta, 'group' | 'commands'> & Partial<OptionMeta>): S => {
    metas.add(schema, { group, commands, ...meta })
    return schema
  }
}

export function describe(schema: z.ZodType): OptionMeta {
  const meta = metas.get(schema)
  if (meta === undefined) throw new Error('an option of the schema has no description')
  return meta
}

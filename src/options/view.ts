import { z } from 'zod'
import { type OptionCommand, describe } from './option.js'
import { type OptionName, optionNames, schema } from './schema.js'

/** One option as flags, environment, file, help and docs see it. */
export interface OptionView {
  readonly name: OptionName
  /** `--batch-bytes`; absent for what the environment alone sets. */
  readonly flag?: string
  readonly label?: string
  /** All names in the environment, the first that is set counts. */
  readonly env: readonly string[]
  readonly group: string
  readonly doc: string
  /** As a person would write it. */
  readonly default?: string
  readonly secret?: 'value' | 'url'
  readonly commands: readonly OptionCommand[]
}

/** Each is asked for several times before a command begins. */
const views = new Map<OptionName, OptionView>()

export function viewOption(name: OptionName): OptionView {
  const view = views.get(name) ?? viewOf(name)
  views.set(name, view)
  return view
}

function viewOf(name: OptionName): OptionView {
  const field: z.ZodType = schema.shape[name]
  const meta = describe(field)
  const preset = field instanceof z.ZodPrefault && meta.label !== undefined ? String(field.def.defaultValue) : undefined
  return {
    name,
    ...(meta.environmentOnly ? {} : { flag: `--${words(name).join('-')}` }),
    ...(meta.label === undefined ? {} : { label: meta.label }),
    env: [...(meta.environmentOnly ? [] : [`SLUICE_${words(name).join('_').toUpperCase()}`]), ...(meta.env ?? [])],
    group: meta.group,
    doc: meta.doc,
    ...(preset === undefined ? {} : { default: preset }),
    ...(meta.secret === undefined ? {} : { secret: meta.secret }),
    commands: [...meta.commands, 'config'],
  }
}

/** The options that a command takes as flags, in the order of the schema. */
export function optionsOf(command: OptionCommand): readonly OptionView[] {
  return optionNames.map(viewOption).filter(view => view.flag !== undefined && view.commands.includes(command))
}

function words(name: string): string[] {
  return name.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`).split(' ')
}

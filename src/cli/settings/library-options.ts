/** Turns the user's settings into options of the library. The table says where each option belongs. */
import {
  type DescribedOption,
  describeOption,
  stagedIn,
  type OptionName,
  optionNames,
} from '../../options/describe-option.js'
import type { ClusterAccess, JsonOptions } from './option-files.js'
import type { IngestOptions, RemoteOptions, ReplayOptions } from '../../options/ingest-options.js'
import type { ConnectOptions } from '../../options/connect-options.js'
import type { Effective } from './resolve.js'

const connecting: readonly OptionName[] = stagedIn('connecting')

export function connectOptions(effective: Effective, access: ClusterAccess): ConnectOptions {
  const { values, origins } = effective
  const given = { ...values, ...access, proxy: access.proxy?.url }
  const { origin } = access.proxy ?? { origin: origins.proxy }
  return {
    ...optionsAt('', connecting, given),
    // A limit that somebody set is also one for connecting.
    ...(origins.timeoutMs === 'default' ? { timeoutMs: undefined } : {}),
    target: optionsAt('target', optionNames, given),
    proxy: { ...optionsAt('proxy', optionNames, given), origin, environmentOrigin: origins.httpsProxy },
  }
}

/** A load, except for its source, its tables and who listens. */
export function ingestOptions(
  effective: Effective,
  access: ClusterAccess,
  json: JsonOptions = {},
  remote: Pick<RemoteOptions, 'ca' | 'token'> = {},
): Omit<IngestOptions, 'source'> {
  return {
    csv: csvOptions(effective),
    remote: { ...optionsAt('remote', optionNames, effective.values), ...remote },
    edits: optionsAt('edits', optionNames, effective.values),
    ...connectOptions(effective, access),
    ...optionsAt('', takenBy('ingest'), { ...effective.values, ...json }),
  }
}

/** How CSV is read. */
export function csvOptions({ values }: Effective): NonNullable<IngestOptions['csv']> {
  return optionsAt('csv', optionNames, values)
}

/**
 * Returns the library's options for a load of tables, without the instance. Options that are not set keep the defaults of tables.
 */
export function tableOptions({ values, origins }: Effective): Omit<Partial<IngestOptions>, 'servicenow'> {
  const { fields, ids, op } = values
  return {
    table: {
      ...optionsAt('table', optionNames, values),
      ...(fields === undefined ? {} : { fields: fields.split(',').map(name => name.trim()) }),
    },
    ...optionsAt('', ['deletions', ...stagedIn('deletions')], values),
    ids: origins.ids === 'default' ? undefined : ids,
    op: origins.op === 'default' ? undefined : op,
  }
}

/** A replay, except for its source and who listens. */
export function replayOptions(effective: Effective, access: ClusterAccess): Omit<ReplayOptions, 'source'> {
  const { values, origins } = effective
  // General settings for loads do not apply to a replay: dead letters name their own index. Only flags change that.
  const isMeant = (name: OptionName) => !onlyByFlag.has(name) || origins[name].startsWith('--')
  return { ...connectOptions(effective, access), ...optionsAt('', takenBy('replay').filter(isMeant), values) }
}

const onlyByFlag: ReadonlySet<OptionName> = new Set(['index', 'pipeline', 'runId'])

/** A receiver, except for its token, its certificate and who listens. */
export function serveOptions(effective: Effective, access: ClusterAccess): ConnectOptions {
  const { values } = effective
  const taken = takenBy('serve')
  return { ...connectOptions(effective, access), ...optionsAt('', taken, values), ...optionsAt('serve', taken, values) }
}

/** Options of tables are only for loads of tables. */
function takenBy(command: DescribedOption['commands'][number]): OptionName[] {
  return optionNames.filter(name => {
    const { commands, group } = describeOption(name)
    return commands.includes(command) && group !== 'ServiceNow' && !connecting.includes(name)
  })
}

/** The options that have their place in a section of the library's, under their names there. */
function optionsAt(
  section: string,
  names: readonly OptionName[],
  given: { readonly [K in OptionName]?: unknown },
): Readonly<Record<string, never>> {
  const placed = names.flatMap(name => {
    const { place } = describeOption(name)
    return place?.section === section && given[name] !== undefined ? [[place.name, given[name]]] : []
  })
  // The types of values are those of the table, which a type test compares with the library's.
  return Object.fromEntries(placed) as Readonly<Record<string, never>>
}

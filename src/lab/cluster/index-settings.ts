import { MAX_FIELDS } from './mapping.js'
import type { Index } from './store.js'

/** Settings by dotted name without the leading `index.`, values as text: `{"index":{"blocks":{"write":true}}}` too. */
export function flat(settings: unknown, prefix = ''): Record<string, unknown> {
  if (typeof settings !== 'object' || settings === null) return {}
  const found: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(settings)) {
    const path = `${prefix}${name}`
    if (Array.isArray(value)) found[path.replace(/^index\./, '')] = value.map(String)
    else if (typeof value === 'object' && value !== null) Object.assign(found, flat(value, `${path}.`))
    else found[path.replace(/^index\./, '')] = value === null ? undefined : String(value)
  }
  return found
}

export const FIELD_LIMIT = 'mapping.total_fields.limit'

/** Changes settings. A setting with the value undefined gets its default again. */
export function changeSettings(index: Index, changes: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) delete index.settings[name]
    else index.settings[name] = value
  }
  index.mapping.maxFields = Number(index.settings[FIELD_LIMIT] ?? MAX_FIELDS)
  index.isWriteBlocked = index.settings['blocks.write'] === 'true'
}

/** Shows settings as `GET _settings` does: as a tree, or with `flat_settings` by dotted name. `only`: their names, none for all. */
export function describeSettings(index: Index, isFlat: boolean, only: readonly string[] = []): Record<string, unknown> {
  const settings = {
    number_of_shards: '1',
    number_of_replicas: '1',
    provided_name: index.name,
    creation_date: String(index.createdAt),
    uuid: index.uuid,
    ...index.settings,
  }
  const all = Object.entries(settings).map(([name, value]): [string, unknown] => [`index.${name}`, value])
  const named = all.filter(([name]) => only.length === 0 || only.includes(name))
  return isFlat ? Object.fromEntries(named) : treeOf(named)
}

type Tree = { [name: string]: unknown }

function treeOf(named: readonly (readonly [string, unknown])[]): Tree {
  const root: Tree = {}
  for (const [path, value] of named) {
    const names = path.split('.')
    const last = names.pop() ?? ''
    let at = root
    for (const name of names) at = (at[name] ??= {}) as Tree
    at[last] = value
  }
  return root
}

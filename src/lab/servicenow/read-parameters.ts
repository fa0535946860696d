import type { Presentation } from './present-row.js'
import type { PageAsked } from './read-page.js'

/** The platform's default of `sysparm_limit`. */
const DEFAULT_LIMIT = 10_000

/** `sysparm_fields`, `sysparm_display_value` and `sysparm_exclude_reference_link`. */
export function presentationOf({ searchParams, origin }: URL): Presentation {
  const display = searchParams.get('sysparm_display_value')
  const fields = (searchParams.get('sysparm_fields') ?? '').split(',').map(field => field.trim())
  const named = fields.filter(field => field !== '')
  return {
    fields: named.length === 0 ? undefined : named,
    display: display === 'true' || display === 'all' ? display : 'false',
    excludesLink: searchParams.get('sysparm_exclude_reference_link') === 'true',
    origin,
  }
}

/** `sysparm_limit`, `sysparm_offset` and `sysparm_no_count`. What is no number counts as not said. */
export function pageAskedOf({ searchParams }: URL): PageAsked {
  return {
    offset: count(searchParams.get('sysparm_offset')) ?? 0,
    limit: count(searchParams.get('sysparm_limit')) ?? DEFAULT_LIMIT,
    isCounted: searchParams.get('sysparm_no_count') !== 'true',
  }
}

function count(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

import { type Row, keyFields } from './table-row.js'

/** What is asked for, and how what comes is given out. */
export interface RowShape {
  /** For the platform; undefined: every field. */
  readonly fields: readonly string[] | undefined
  readonly displayValue: 'false' | 'all'
  shape(row: Row): Row
}

/**
 * The values that were asked for, in the form that was asked for, and `sys_id`. Displayed values are asked for together with those that
 * are stored, because reading goes by them.
 */
export function rowShape(fields: readonly string[] | undefined, display: 'false' | 'true' | 'all'): RowShape {
  const kept = fields === undefined ? undefined : new Set(['sys_id', ...fields])
  const cell = display === 'true' ? displayed : display === 'all' ? both : (value: unknown) => value
  const isAsItComes = display === 'false' && (kept === undefined || keyFields.every(field => kept.has(field)))
  return {
    fields: kept === undefined ? undefined : [...new Set([...kept, ...keyFields])],
    displayValue: display === 'false' ? 'false' : 'all',
    shape: isAsItComes
      ? row => row
      : row => {
          const shaped: Record<string, unknown> = {}
          for (const name of Object.keys(row)) {
            // A document's id is the one that is stored, in every form.
            if (name === 'sys_id') shaped[name] = storedValue(row[name])
            else if (kept === undefined || kept.has(name)) shaped[name] = cell(row[name])
          }
          return shaped
        },
  }
}

function displayed(value: unknown): unknown {
  return isBoth(value) ? value.display_value : value
}

function storedValue(value: unknown): unknown {
  return isBoth(value) ? value.value : value
}

function both(value: unknown): unknown {
  return isBoth(value) ? { display_value: value.display_value, value: value.value } : value
}

function isBoth(value: unknown): value is { display_value: unknown; value: unknown } {
  return typeof value === 'object' && value !== null && 'display_value' in value && 'value' in value
}

import type { Row } from './row.js'

/** What the platform's own rules make of an incident before it is kept. `next` is what the caller wants, and is changed. */
export function applyIncidentRules(before: Row, next: Record<string, string>, now: string): void {
  // Priority is looked up, never set: high and high is critical.
  next['priority'] = String(Math.min(5, Math.max(1, level(next['impact']) + level(next['urgency']) - 1)))
  const [was, is] = [before['state'], next['state']]
  if (was === is) return
  next['active'] = String(is !== '7' && is !== '8')
  if (is === '6') next['resolved_at'] = now
  if (is === '7') next['closed_at'] = now
}

/** The data policy of a new instance: the fields, as they are labelled, that a resolved or closed incident lacks. */
export function missingFields(next: Readonly<Record<string, string>>): readonly string[] {
  if (next['state'] !== '6' && next['state'] !== '7') return []
  const labels = { close_code: 'Resolution code', close_notes: 'Resolution notes' }
  return Object.entries(labels).flatMap(([field, label]) => ((next[field] ?? '') === '' ? [label] : []))
}

function level(text: string | undefined): number {
  return /^[123]$/.test(text ?? '') ? Number(text) : 3
}

/** Opens the incident of a job after a failed run, or adds a note to the open one. A good run resolves it. */
import { fail, isSluiceError } from '../../base/failure/failure.js'
import type { Fields, Incident, Incidents } from './incidents.js'

export interface Occurrence {
  readonly shortDescription: string
  readonly description: string
  /** Fields of a new incident: impact, urgency, and the user's own. */
  readonly fields: Fields
  /** The code that closes a surplus incident. */
  readonly closeCode: string
  /** Time of the failure, in ISO 8601. */
  readonly at: string
}

interface Raised {
  readonly did: 'opened' | 'updated'
  readonly incident: Incident
  /** Deviations from the request. */
  readonly notes: readonly string[]
}

/** The description shows how often the job failed. */
const OCCURRENCES = /^Occurrences: (\d+).*$/m
/** Limits of the platform. */
const LONGEST_SHORT_DESCRIPTION = 160
const LONGEST_DESCRIPTION = 4000
/** A short description without this start is a person's own, and stays. */
export const OWN_TITLE = 'Sluice: '

/** Throws SluiceError: what `Instance.call` throws, and SERVICENOW_QUERY_IGNORED. */
export async function raiseIncident(incidents: Incidents, occurrence: Occurrence): Promise<Raised> {
  const [known] = await incidents.open()
  if (known !== undefined) return { did: 'updated', incident: await note(incidents, known, occurrence), notes: [] }
  const made = await incidents.create({
    ...occurrence.fields,
    short_description: cut(occurrence.shortDescription, LONGEST_SHORT_DESCRIPTION),
    description: counted(occurrence.description, 1, occurrence.at),
  })
  const lost = Object.keys(occurrence.fields).filter(name => made.values[name] === '')
  const notes = lost.length === 0 ? [] : [`the instance did not store ${lost.join(', ')}`]
  try {
    return await settleRace(incidents, made, occurrence, notes)
  } catch (error) {
    if (!isSluiceError(error)) throw error
    // The incident is open, and that is enough.
    return { did: 'opened', incident: made, notes: [...notes, `Sluice could not look it up again: ${error.message}`] }
  }
}

/** Two runs may have failed at once, or the first answer came too late. Keeps only the oldest incident. */
async function settleRace(
  incidents: Incidents,
  made: Incident,
  occurrence: Occurrence,
  notes: readonly string[],
): Promise<Raised> {
  const open = await incidents.open()
  if (!open.some(({ sysId }) => sysId === made.sysId)) {
    const hidden = 'the user cannot find it by its correlation_id, so the next failure will open another incident'
    return { did: 'opened', incident: made, notes: [...notes, hidden] }
  }
  const [first = made] = open
  if (first.sysId === made.sysId) return { did: 'opened', incident: made, notes }
  const kept = await note(incidents, first, occurrence)
  const duplicate = {
    close_code: occurrence.closeCode,
    close_notes: `${first.number} is an older incident for the same problem.`,
  }
  await resolve(incidents, made, duplicate)
  return { did: 'updated', incident: kept, notes }
}

/** Adds a work note and raises the count. Texts of people stay. */
async function note(incidents: Incidents, incident: Incident, occurrence: Occurrence) {
  const { shortDescription, at } = occurrence
  const { description = '', short_description: title = '' } = incident.values
  const count = occurrencesIn(description) + 1
  const fields = {
    work_notes: `${occurrence.description}\n\nOccurrence ${count} of this incident.`,
    description: counted(description, count, at),
    ...(title.startsWith(OWN_TITLE) ? { short_description: cut(shortDescription, LONGEST_SHORT_DESCRIPTION) } : {}),
  }
  return await incidents.change(incident, fields, values => occurrencesIn(values['description'] ?? '') >= count)
}

/** Resolves every open incident of the job. Throws as `raiseIncident` does, and SERVICENOW_ACCESS_DENIED. */
export async function resolveIncidents(
  incidents: Incidents,
  closing: Readonly<Record<'close_code' | 'close_notes', string>> & Fields,
): Promise<readonly Incident[]> {
  const resolved: Incident[] = []
  for (const incident of await incidents.open()) resolved.push(await resolve(incidents, incident, closing))
  return resolved
}

async function resolve(incidents: Incidents, incident: Incident, closing: Fields): Promise<Incident> {
  const isResolved = (values: Fields) => values['state'] === '6' || values['state'] === '7'
  const after = await incidents.change(incident, { ...closing, state: '6' }, isResolved)
  // The platform silently skips fields that the user may not write.
  if (isResolved(after.values)) return after
  const reason = `its state is still '${after.values['state'] ?? ''}', because the user cannot resolve it`
  throw fail('SERVICENOW_ACCESS_DENIED', {
    instance: incidents.display,
    request: `PATCH incident ${incident.number}`,
    status: 200,
    reason,
  })
}

/** A person may have raised the limit of the field. */
const SEARCHED = 64 * 1024

function occurrencesIn(description: string): number {
  return Number(OCCURRENCES.exec(description.slice(0, SEARCHED))?.[1] ?? 1)
}

function counted(description: string, count: number, at: string): string {
  const start = description.slice(0, SEARCHED)
  const line = `Occurrences: ${count}, the last one at ${at}`
  if (OCCURRENCES.test(start)) return start.replace(OCCURRENCES, line) + description.slice(SEARCHED)
  const room = LONGEST_DESCRIPTION - line.length - 2
  return `${line}\n\n${cut(description, room)}`
}

/** Keeps characters whole. */
function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** Lists the attachments of records. */
import { isObject } from '../../base/json/parse-json.js'
import { fail } from '../../base/failure/failure.js'
import type { Instance } from '../../route/servicenow/instance.js'
import { isSysId } from './reading/id-set.js'
import { stored } from './reading/row.js'

export interface Attachment {
  readonly sysId: string
  /** The record that it belongs to. */
  readonly record: string
  readonly fileName: string
  /** Bytes. Undefined: the instance does not say. */
  readonly size: number | undefined
  /** SHA-256 in hexadecimal digits. Attachments of old instances have none. */
  readonly hash: string | undefined
}

/** Records of one request: their ids are in its URL. */
const MOST_RECORDS = 40
const PAGE = 1000
const FIELDS = 'sys_id,table_sys_id,file_name,size_bytes,hash'

/** `records`: ids of 32 hexadecimal digits. Throws SluiceError SERVICENOW_*, RUN_INTERRUPTED. */
export async function* listAttachments(
  instance: Instance,
  records: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Attachment> {
  for (let at = 0; at < records.length; at += MOST_RECORDS) {
    const part = records.slice(at, at + MOST_RECORDS)
    const known = new Set(part.map(id => id.toLowerCase()))
    for (let last = ''; ;) {
      const rows = await askFor(instance, part, last, signal)
      for (const row of rows) yield attachmentIn(row, known, instance)
      // Access control may hide some of a page.
      if (rows.length === 0) break
      last = stored(rows.at(-1)?.['sys_id'])
    }
  }
}

async function askFor(instance: Instance, records: readonly string[], last: string, signal: AbortSignal) {
  const query = `table_sys_idIN${records.join(',')}${last === '' ? '' : `^sys_id>${last}`}^ORDERBYsys_id`
  const { result } = await instance.call({
    method: 'GET',
    table: 'sys_attachment',
    api: 'attachment',
    query: { sysparm_query: query, sysparm_limit: String(PAGE), sysparm_fields: FIELDS },
    signal,
  })
  if (!Array.isArray(result) || !result.every(isObject)) throw notUnderstood(instance, 'no list of attachments')
  const rows: readonly Readonly<Record<string, unknown>>[] = result
  if (rows.some(row => last !== '' && stored(row['sys_id']).toLowerCase() <= last.toLowerCase()))
    throw notUnderstood(instance, 'attachments out of order')
  return rows
}

/** An answer must not choose where Sluice writes a file. */
function attachmentIn(
  row: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  instance: Instance,
): Attachment {
  const sysId = stored(row['sys_id']).toLowerCase()
  const record = stored(row['table_sys_id']).toLowerCase()
  if (!isSysId(sysId) || !known.has(record)) throw notUnderstood(instance, 'an attachment of another record')
  const size = stored(row['size_bytes'])
  const hash = stored(row['hash']).toLowerCase()
  return {
    sysId,
    record,
    fileName: stored(row['file_name']),
    size: /^\d{1,15}$/.test(size) ? Number(size) : undefined,
    hash: /^[0-9a-f]{64}$/.test(hash) ? hash : undefined,
  }
}

function notUnderstood({ display }: Instance, observed: string) {
  return fail('SERVICENOW_NOT_AN_INSTANCE', { instance: display, observed: `status 200, ${observed}` })
}

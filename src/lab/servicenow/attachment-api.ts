import { type Answer, failed, json, noRecord, server } from './answers.js'
import type { Call } from './call.js'
import { answerList } from './list-rows.js'

/** Answers /api/now/attachment[/{sys_id}[/file]] for an authenticated user. Only reads. */
export function answerAttachments(call: Call, username: string, id: string | undefined, isFile: boolean): Answer {
  const { platform, method } = call
  if (method !== 'GET') return failed(405, 'Method not supported', null)
  const table = platform.table('sys_attachment')
  if (id === undefined) return answerList(call, username, table)
  const row = table.get(id)
  if (!row || platform.acl.hides(username, table)(row)) return noRecord()
  if (!isFile) return json(200, { result: row })
  const file = platform.files.get(id)
  if (file === undefined) return failed(403, 'User Not Authorized', 'Failed security check on the attachment')
  return { status: 200, headers: { ...server, 'content-type': String(row['content_type']) }, body: file }
}

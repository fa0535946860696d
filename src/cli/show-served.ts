/** The account of a receiver, for people and for programs. */
import type { ServeReceipt } from '../index.js'
import { columns } from './columns.js'
import { bytes, count, duration, plural } from './quantities.js'
import { failureJson } from './say-error.js'

export function serveReceiptJson(receipt: ServeReceipt): string {
  const { failure } = receipt
  return `${JSON.stringify({ ...receipt, ...(failure === undefined ? {} : { failure: failureJson(failure) }) })}\n`
}

export function showServed(receipt: ServeReceipt): string {
  const { accepted, waiting, answers, deadLetters, spool, elapsedMs } = receipt
  const counted = (['created', 'updated', 'duplicate', 'rejected'] as const).filter(
    name => receipt[name] > 0 || name === 'created' || name === 'rejected',
  )
  const told = Object.entries(answers).map(([status, times]) => `${status} (${count(times)}x)`)
  return [
    `Served for ${duration(elapsedMs)}\n\n`,
    columns(
      [
        ['accepted', count(accepted)],
        ['loaded', count(receipt.read)],
        ...counted.map(name => [`  ${name}`, count(receipt[name])]),
        [
          'waiting',
          `${count(waiting.documents)}${waiting.bytes === 0 ? '' : ` (${bytes(waiting.bytes)}) in ${spool}`}`,
        ],
        ['answers', told.length === 0 ? 'none' : told.join(', ')],
        ...(deadLetters === undefined
          ? []
          : [['refused', `${plural(receipt.rejected, 'document')} in ${deadLetters}`]]),
      ],
      '  ',
    ),
  ].join('')
}

/** Writes documents as the formats of files carry them. */
import { zipOf } from '../support/facts/archives.js'
import { workbookOf } from '../support/facts/workbooks.js'
import { isRare, type Line } from './facts.js'

/** `isOpen`: the last line has no line end yet. `op`: what a format with actions says of each document. */
export type Format = (lines: readonly Line[], isOpen: boolean, op: string) => Buffer

/** So long that a content of one line is recognised: see known-faults.json. */
const fill = 'x'.repeat(260)

const broken = ({ n, v }: Line) => `broken ${n} ${v}`

/** Two halves of the documents: an index may be named by this field. */
export function partOf(n: number): string {
  return n % 2 === 0 ? 'even' : 'odd'
}

export function documentOf({ n, v }: Line): object {
  return { n, v, part: partOf(n), fill, ...(isRare(n) ? { rare: 'text' } : {}) }
}

const json = (line: Line) => JSON.stringify(documentOf(line))

function joined(lines: readonly Line[], isOpen: boolean, write: (line: Line) => string): Buffer {
  const text = lines.map(line => `${write(line)}\n`).join('')
  return Buffer.from(isOpen ? text.trimEnd() : text)
}

export const ndjson: Format = (lines, isOpen) => joined(lines, isOpen, line => (line.isBad ? broken(line) : json(line)))

const separated =
  (separator: string): Format =>
  lines => {
    const row = ({ n, v, isBad }: Line) => [n, v, partOf(n), fill, ...(isBad ? ['too much'] : [])].join(separator)
    return Buffer.from([['n', 'v', 'part', 'fill'].join(separator), ...lines.map(row), ''].join('\n'))
  }

export const csv = separated(',')

/** A table below two titles, with a column of which no cell has a value. */
export const titled: Format = lines => {
  const row = ({ n, v, isBad }: Line) => [n, v, '-', partOf(n), fill, ...(isBad ? ['too much'] : [])].join(',')
  return Buffer.from(['Numbers,of a story', 'n,v', 'n,v,none,part,fill', ...lines.map(row), ''].join('\n'))
}

/** The second sheet of a workbook. A row with a formula that was never calculated is no document. */
export const xlsx: Format = lines => {
  const row = ({ n, v, isBad }: Line) => [n, v, partOf(n), fill, ...(isBad ? [{ xml: '><f>A1</f></c>' }] : [])]
  return workbookOf({
    sheets: [
      { name: 'Other', rows: [['n'], [1]] },
      { name: 'Data', rows: [['Numbers'], null, ['n', 'v', 'part', 'fill'], ...lines.map(row)] },
    ],
  })
}

/** Lines beside files that nobody wants. */
export const archive: Format = (lines, isOpen, op) =>
  zipOf([
    { name: 'other.csv', data: 'n,v\n1,1\n' },
    { name: 'data/lines.ndjson', data: ndjson(lines, isOpen, op) },
    { name: 'README.md', data: 'Read me' },
  ])

/** Lines of text, which happen to be JSON. A line that is no document is no UTF-8. */
export const text: Format = (lines, isOpen) => {
  const all = lines.map(line => (line.isBad ? Buffer.from(`${broken(line)} \xff`, 'latin1') : Buffer.from(json(line))))
  const ended = all.flatMap((line, at) => (isOpen && at === all.length - 1 ? [line] : [line, Buffer.from('\n')]))
  return Buffer.concat(ended)
}
export const tsv = separated('\t')

export const jsonArray: Format = lines => {
  const elements = lines.map(line => (line.isBad ? `"${broken(line)}"` : json(line)))
  return Buffer.from(`[${elements.join(',\n')}]\n`)
}

/** Hits of another index, with the ids that they had there. */
const hit = (line: Line) => {
  const source = line.isBad ? `"${broken(line)}"` : json(line)
  return `{"_index":"old","_id":"${line.n}","_score":1,"_source":${source}}`
}

export const elasticdump: Format = (lines, isOpen) => joined(lines, isOpen, hit)

export const search: Format = lines =>
  Buffer.from(
    `{"took":1,"timed_out":false,"hits":{"total":{"value":${lines.length}},"hits":[${lines.map(hit).join(',\n')}]}}\n`,
  )

export const bulk: Format = (lines, _, op) =>
  joined(lines, false, line => {
    const action = `{"${op === 'upsert' ? 'update' : op}":{"_id":"${line.n}"}}`
    const document = line.isBad ? broken(line) : json(line)
    if (op === 'delete') return action
    if (op === 'update' || op === 'upsert')
      return `${action}\n{"doc":${document}${op === 'upsert' ? ',"doc_as_upsert":true' : ''}}`
    return `${action}\n${document}`
  })

/** Writes workbooks (.xlsx) for tests, also such as no program would write. */
import { type Stored, zipOf } from './archives.js'

/** A cell: a value, a number with a style, or the XML of a cell behind its place. Null: no cell. */
export type WrittenCell = string | number | boolean | null | Styled | { readonly xml: string }

interface Styled {
  readonly number: number
  readonly style: keyof typeof styles
}

interface WrittenSheet {
  readonly name: string
  /** Null: a row that is missing. */
  readonly rows: readonly (readonly WrittenCell[] | null)[]
  readonly state?: string
  /** Ranges of merged cells. */
  readonly merged?: readonly string[]
}

export interface WrittenWorkbook {
  readonly sheets: readonly WrittenSheet[]
  readonly is1904?: boolean
  /** Whether texts stand in their cells. */
  readonly isInline?: boolean
  /** Texts that stand in the list before others, as XML. */
  readonly strings?: readonly string[]
  /** Changes the parts of the file before they are packed. */
  readonly parts?: (parts: readonly Stored[]) => readonly Stored[]
}

/** The formats of numbers, by the number of their style. */
const styles = { general: 0, date: 1, moment: 2, time: 3, elapsed: 4, money: 5, words: 6 } as const

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

export function workbookOf({
  sheets,
  is1904 = false,
  isInline = false,
  strings = [],
  parts = all => all,
}: WrittenWorkbook): Buffer {
  const texts = new Map<string, number>()
  const cellOf = (place: string, cell: WrittenCell): string => {
    if (cell === null) return ''
    if (typeof cell === 'number') return `<c r="${place}"><v>${cell}</v></c>`
    if (typeof cell === 'boolean') return `<c r="${place}" t="b"><v>${cell ? 1 : 0}</v></c>`
    if (typeof cell === 'object' && 'xml' in cell) return `<c r="${place}"${cell.xml}`
    if (typeof cell === 'object') return `<c r="${place}" s="${styles[cell.style]}"><v>${cell.number}</v></c>`
    if (isInline) return `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${escaped(cell)}</t></is></c>`
    const number = texts.get(cell) ?? strings.length + texts.size
    texts.set(cell, number)
    return `<c r="${place}" t="s"><v>${number}</v></c>`
  }
  const sheetOf = ({ rows, merged = [] }: WrittenSheet) => {
    const lines = rows.map((cells, row) =>
      cells === null
        ? ''
        : `<row r="${row + 1}">${cells.map((cell, column) => cellOf(`${letters(column)}${row + 1}`, cell)).join('')}</row>`,
    )
    const ranges = merged.map(range => `<mergeCell ref="${range}"/>`).join('')
    const last = merged.length === 0 ? '' : `<mergeCells count="${merged.length}">${ranges}</mergeCells>`
    return `${head}<worksheet xmlns="${main}"><sheetData>${lines.join('')}</sheetData>${last}</worksheet>`
  }
  const written = sheets.map((sheet, at) => ({ name: `xl/worksheets/sheet${at + 1}.xml`, data: sheetOf(sheet) }))
  const listed = sheets.map(
    ({ name, state }, at) =>
      `<sheet name="${escaped(name)}" sheetId="${at + 1}"${state === undefined ? '' : ` state="${state}"`} r:id="rId${at + 1}"/>`,
  )
  const link = (id: number, type: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${office}/${type}" Target="${target}"/>`
  const links = (...all: readonly string[]) =>
    `${head}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${all.join('')}</Relationships>`
  const shared = [...strings, ...[...texts.keys()].map(text => `<t xml:space="preserve">${escaped(text)}</t>`)]
  return zipOf(
    parts([
      { name: '[Content_Types].xml', data: `${head}<Types/>` },
      { name: '_rels/.rels', data: links(link(1, 'officeDocument', 'xl/workbook.xml')) },
      {
        name: 'xl/workbook.xml',
        data: `${head}<workbook xmlns="${main}" xmlns:r="${office}"><workbookPr${is1904 ? ' date1904="1"' : ''}/><sheets>${listed.join('')}</sheets></workbook>`,
      },
      {
        name: 'xl/_rels/workbook.xml.rels',
        data: links(
          ...sheets.map((_, at) => link(at + 1, 'worksheet', `worksheets/sheet${at + 1}.xml`)),
          link(sheets.length + 1, 'styles', '/xl/styles.xml'),
          link(sheets.length + 2, 'sharedStrings', 'sharedStrings.xml'),
        ),
      },
      ...written,
      { name: 'xl/styles.xml', data: stylesheet },
      {
        name: 'xl/sharedStrings.xml',
        data: `${head}<sst xmlns="${main}">${shared.map(text => `<si>${text}</si>`).join('')}</sst>`,
      },
    ]),
  )
}

const codes = [
  [164, 'yyyy\\-mm\\-dd\\ hh:mm'],
  [165, '[h]:mm:ss'],
  [166, '#,##0.00&quot; days&quot;;[Red]\\-0'],
  [167, '&quot;due &quot;0_d'],
] as const
const stylesheet = `${head}<styleSheet xmlns="${main}"><numFmts>${codes
  .map(([id, code]) => `<numFmt numFmtId="${id}" formatCode="${code}"/>`)
  .join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${[0, 14, 164, 20, 165, 166, 167]
  .map(id => `<xf numFmtId="${id}" xfId="0"/>`)
  .join('')}</cellXfs></styleSheet>`

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/** Returns the name of a column. */
function letters(column: number): string {
  const last = String.fromCodePoint(0x41 + (column % 26))
  return column < 26 ? last : letters(Math.floor(column / 26) - 1) + last
}

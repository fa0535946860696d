/** Reads what a workbook says of its sheets: names, places in the file, and the formats of their cells. */
import { posix } from 'node:path'
import { nearest, visible } from '../../../base/text/shown.js'
import { type Meaning, meaningOf } from './number-format.js'
import { XmlTokens } from './xml-tokens.js'

export interface Sheet {
  readonly name: string
  readonly isHidden: boolean
  /** Of the part of the file that holds its cells. */
  readonly path: string
}

export interface Workbook {
  readonly sheets: readonly Sheet[]
  readonly is1904: boolean
  /** What numbers stand for, by the style of their cell. */
  readonly meanings: readonly Meaning[]
  /** The part that holds its texts, if it has one. */
  readonly strings: string | undefined
}

/** Opens a part of the workbook. Undefined: there is none of this name. */
export type OpenPart = (path: string) => AsyncIterable<Uint8Array> | undefined

/** Throws an error that says what is wrong with it. */
export async function readWorkbook(open: OpenPart): Promise<Workbook> {
  const path = (await linksOf(open, '')).find(({ type }) => type === 'officeDocument')?.target
  const part = path === undefined ? undefined : open(path)
  if (path === undefined || part === undefined) throw new Error('it has no list of sheets')
  const links = await linksOf(open, path)
  const byId = new Map(links.map(link => [link.id, link]))
  const sheets: Sheet[] = []
  let is1904 = false
  for await (const tag of tagsIn(part)) {
    if (tag.name === 'workbookPr') is1904 = /^(?:1|true|on)$/.test(tag.attribute('date1904') ?? '')
    if (tag.name !== 'sheet') continue
    const link = byId.get(tag.attribute('id') ?? '')
    // A sheet may be a chart.
    if (link?.type !== 'worksheet') continue
    const isHidden = /hidden/i.test(tag.attribute('state') ?? '')
    sheets.push({ name: tag.attribute('name') ?? '', isHidden, path: link.target })
  }
  const target = (type: string) => links.find(link => link.type === type)?.target
  return { sheets, is1904, meanings: await meaningsIn(open, target('styles')), strings: target('sharedStrings') }
}

/**
 * Returns the sheet that is read: the one of this name, or the first one that is not hidden. Returns what is wrong if there is none.
 */
export function chosenSheet(sheets: readonly Sheet[], name: string | undefined): Sheet | string {
  const [first] = sheets
  if (first === undefined) return 'it has no sheet with cells'
  if (name === undefined) return sheets.find(({ isHidden }) => !isHidden) ?? first
  const same = (one: string) => one.normalize().toLowerCase() === name.normalize().toLowerCase()
  const found = sheets.find(sheet => sheet.name === name) ?? sheets.find(sheet => same(sheet.name))
  if (found !== undefined) return found
  const names = sheets.map(sheet => sheet.name)
  const near = nearest(name, names)
  const hint = near === undefined ? '' : `. Did you mean ${visible(near)}?`
  return `no sheet is called ${visible(name)}. Its sheets: ${listedSheets(sheets)}${hint}`
}

/** Most sheets that a message names. */
const NAMED = 20

/** Returns the names of sheets, and which are hidden. */
export function listedSheets(sheets: readonly Sheet[]): string {
  const named = sheets.slice(0, NAMED).map(({ name, isHidden }) => `${visible(name)}${isHidden ? ' (hidden)' : ''}`)
  return named.join(', ') + (sheets.length > NAMED ? ', …' : '')
}

interface Link {
  readonly id: string
  /** The last word of its type. */
  readonly type: string
  readonly target: string
}

/** Returns the parts that a part refers to. `path`: none for the whole file. */
async function linksOf(open: OpenPart, path: string): Promise<Link[]> {
  const folder = posix.dirname(path)
  const part = open(posix.join(folder, '_rels', `${posix.basename(path)}.rels`))
  const links: Link[] = []
  if (part === undefined) return links
  for await (const { name, attribute } of tagsIn(part)) {
    if (name !== 'Relationship') continue
    const target = attribute('Target') ?? ''
    links.push({
      id: attribute('Id') ?? '',
      type: (attribute('Type') ?? '').replace(/^.*\//s, ''),
      target: target.startsWith('/') ? target.slice(1) : posix.join(folder, target),
    })
  }
  return links
}

/** Reads the meaning of numbers in each style of cells. */
async function meaningsIn(open: OpenPart, path: string | undefined): Promise<Meaning[]> {
  const part = path === undefined ? undefined : open(path)
  if (part === undefined) return []
  const codes = new Map<number, string>()
  const formats: number[] = []
  let isOfCells = false
  for await (const { name, isOpen, attribute } of tagsIn(part, true)) {
    if (name === 'cellXfs') isOfCells = isOpen
    if (!isOpen) continue
    if (name === 'numFmt') codes.set(Number(attribute('numFmtId')), attribute('formatCode') ?? '')
    if (name === 'xf' && isOfCells) formats.push(Number(attribute('numFmtId') ?? 0))
  }
  return formats.map(id => meaningOf(id, codes.get(id)))
}

interface Tag {
  readonly name: string
  readonly isOpen: boolean
  attribute(name: string): string | undefined
}

/** Yields the opening tags whose names matter, with `closing` also closing ones. Each is valid until the next one is asked for. */
async function* tagsIn(part: AsyncIterable<Uint8Array>, closing = false): AsyncGenerator<Tag> {
  const tokens = new XmlTokens()
  const attribute = (name: string) => tokens.attribute(name)
  for await (const chunk of part) {
    tokens.add(chunk)
    for (let token = tokens.next(); token !== undefined; token = tokens.next()) {
      const isOpen = token === 'open'
      if (tokens.name !== '' && (isOpen || (closing && token === 'close')))
        yield { name: tokens.name, isOpen, attribute }
    }
  }
  tokens.end()
}

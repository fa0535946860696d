/** Forms of a corpus for the everyday scenarios. Making them is not measured. Each resolves to a corpus with another file. */
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { cacheFolder } from '../cache.js'
import { linesOf } from './derived.js'

const MANY_FILES = 100_000
const FEWEST_DOCUMENTS = 7
const FILES_IN_FOLDER = 1000
const FEW_DOCUMENTS = 100

/** `form`: undefined leaves the corpus as it is. */
export async function formed(form, corpus) {
  const make = forms[form]
  if (make === undefined) return corpus
  const path = join(cacheFolder('derived'), `${corpus.kind}-${corpus.sha256.slice(0, 12)}.${form}`)
  return { ...corpus, ...(await make(corpus, path)) }
}

const forms = {
  gz: whole((corpus, path) => pipeline(createReadStream(corpus.file), createGzip(), createWriteStream(path))),
  array: whole((corpus, path) =>
    pipeline(
      arrayOf(corpus, line => line),
      createWriteStream(path),
    ),
  ),
  pretty: whole((corpus, path) =>
    pipeline(
      arrayOf(corpus, line => JSON.stringify(JSON.parse(line), undefined, 2)),
      createWriteStream(path),
    ),
  ),
  csv: whole((corpus, path) => pipeline(tableOf(corpus), createWriteStream(path))),
  files: makeFiles,
  few: makeFew,
}

/** The bytes that count are those of the form, but of compressed ones those that they stand for. */
function whole(write) {
  return async (corpus, path) => {
    if (!existsSync(path)) {
      await write(corpus, `${path}.part`)
      renameSync(`${path}.part`, path)
    }
    return { file: path, bytes: Math.max(corpus.bytes, statSync(path).size) }
  }
}

async function* arrayOf(corpus, write) {
  let text = '['
  let separator = ''
  for await (const line of linesOf(corpus.file)) {
    text += `${separator}${write(line)}`
    separator = ',\n'
    if (text.length < 1 << 20) continue
    yield text
    text = ''
  }
  yield `${text}]\n`
}

/** A header, and a row for each document. */
async function* tableOf(corpus) {
  let text
  for await (const line of linesOf(corpus.file)) {
    const document = JSON.parse(line)
    text ??= `${Object.keys(document).join(',')}\n`
    text += `${Object.values(document).map(cellOf).join(',')}\n`
    if (text.length < 1 << 20) continue
    yield text
    text = ''
  }
  yield text ?? ''
}

function cellOf(value) {
  const text = String(value)
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** As many files as there are documents for. */
async function makeFiles(corpus, path) {
  const count = Math.min(MANY_FILES, Math.floor(corpus.documents / FEWEST_DOCUMENTS))
  if (!existsSync(path)) {
    const each = Math.ceil(corpus.documents / count)
    let lines = []
    let number = 0
    const write = () => {
      const folder = join(`${path}.part`, String(Math.floor(number / FILES_IN_FOLDER)).padStart(4, '0'))
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, `${String(number++).padStart(7, '0')}.ndjson`), `${lines.join('\n')}\n`)
      lines = []
    }
    for await (const line of linesOf(corpus.file)) if (lines.push(line) === each) write()
    if (lines.length > 0) write()
    renameSync(`${path}.part`, path)
  }
  return { file: `${path}/*/*.ndjson` }
}

async function makeFew(corpus, path) {
  const lines = []
  for await (const line of linesOf(corpus.file)) if (lines.push(line) === FEW_DOCUMENTS) break
  const text = `${lines.join('\n')}\n`
  writeFileSync(path, text)
  return { file: path, documents: lines.length, bytes: Buffer.byteLength(text) }
}

/** The attachments of pulled rows: whole, each once, in their place, for all names and all refusals. */
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { pullToFile } from '../../../src/servicenow.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { codeOf } from '../../support/lab/run-world.js'
import { lab, path, shareLab, way } from '../../support/lab/shared-lab.js'
import { caText } from '../../support/lab/tunnel-world.js'

shareLab()

let table = ''
let tables = 0
let ids: readonly string[] = []
beforeEach(() => {
  const sn = lab.control.servicenow
  sn.heal()
  table = `u_with_files_${++tables}`
  sn.createTable(table, { fields: { number: { type: 'string' } } })
  sn.seed(table, 3)
  ids = sn.rows(table).map(({ sys_id: id }) => id)
  sn.forgetRequests()
})

const sn = () => lab.control.servicenow
const attach = (at: number, file: Parameters<ReturnType<typeof sn>['attach']>[2]) =>
  sn().attach(table, ids[at] ?? '', file).sys_id

async function pulled(warnings: string[] = []) {
  const { url, username, password } = lab.line.servicenow
  return await pullToFile({
    servicenow: { url, username, password, ca: caText() },
    proxy: way().proxy,
    preflightConnections: 1,
    table,
    output: path('rows.ndjson'),
    attachments: path('files'),
    onWarning: warning => void warnings.push(warning),
  })
}

/** Path below the folder, and content. */
async function files(): Promise<Record<string, string>> {
  const found = existsSync(path('files')) ? await readdir(path('files'), { recursive: true, withFileTypes: true }) : []
  return Object.fromEntries(
    found
      .filter(one => one.isFile())
      .map(one => join(one.parentPath, one.name))
      .map(name => [name.slice(path('files').length + 1), readFileSync(name, 'utf8')]),
  )
}

const fetches = () =>
  sn()
    .requests()
    .filter(request => request.path.endsWith('/file')).length

test('each file is written below its record, and stays there for the next pull', async () => {
  const first = attach(0, { fileName: 'report.txt', content: 'one' })
  const second = attach(0, { fileName: 'empty', content: '' })
  const third = attach(2, { fileName: '../../../../out of here.txt', content: 'three' })
  const done = await pulled()
  expect(done).toMatchObject({ rows: 3, attachments: { fetched: 3, bytes: 8, kept: 0, refused: 0 } })
  expect(await files()).toEqual({
    [`${ids[0]}/${first}-report.txt`]: 'one',
    [`${ids[0]}/${second}-empty`]: '',
    [`${ids[2]}/${third}-.._.._.._.._out of here.txt`]: 'three',
  })
  sn().forgetRequests()
  expect(await pulled()).toMatchObject({ attachments: { fetched: 0, kept: 3, refused: 0 } })
  expect(fetches()).toBe(0)
  // The same size, but another content.
  await writeFile(path(`files/${ids[0]}/${first}-report.txt`), 'eno')
  expect(await pulled()).toMatchObject({ attachments: { fetched: 1, kept: 2 } })
  expect(await readFile(path(`files/${ids[0]}/${first}-report.txt`), 'utf8')).toBe('one')
})

test('a file that is cut off is fetched again, and never written in part', async () => {
  const big = 'x'.repeat(3_000_000)
  const id = attach(1, { fileName: 'big', content: big })
  sn().plant({ cut: { api: 'attachment', after: 1, times: 1 } })
  expect(await pulled()).toMatchObject({ attachments: { fetched: 1, refused: 0, bytes: big.length } })
  expect(sn().struck('cut')).toBe(1)
  expect(await files()).toEqual({ [`${ids[1]}/${id}-big`]: big })
})

test(
  'attachments that are refused, cut off again and again, or of another content are named, and the others come',
  { tags: 'long' },
  async () => {
    const denied = attach(0, { fileName: 'secret', content: 'no', isDenied: true })
    const longer = attach(0, { fileName: 'longer', content: 'abcdef', size: 3 })
    const shorter = attach(1, { fileName: 'shorter', content: 'abc', size: 6 })
    const other = attach(1, { fileName: 'other', content: 'abc', hash: 'f'.repeat(64) })
    const good = attach(2, { fileName: 'good', content: 'good' })
    const warnings: string[] = []
    expect(await pulled(warnings)).toMatchObject({ rows: 3, attachments: { fetched: 1, refused: 4 } })
    expect(await files()).toEqual({ [`${ids[2]}/${good}-good`]: 'good' })
    const said = (id: string) => warnings.find(warning => warning.includes(id))
    expect(said(denied)).toMatch(/403/)
    expect(said(longer)).toMatch(/more than the expected 3 bytes/)
    expect(said(shorter)).toMatch(/3 of 6 bytes|broke/)
    expect(said(other)).toMatch(/checksum/)
  },
)

test('a folder that cannot be written ends the pull, and a command says how many came', async () => {
  attach(0, { fileName: 'a', content: 'a' })
  attach(1, { fileName: 'b', content: 'b', isDenied: true })
  await writeFile(path('files'), 'a file')
  expect(await codeOf(pulled())).toMatch(/^OUTPUT_UNWRITABLE/)
  await mkdir(path('more'))
  const env = { ...lab.env, SLUICE_PREFLIGHT_CONNECTIONS: '1' }
  const pull = ['pull', `servicenow:${table}`, '--attachments', path('more/files'), '--output', path('more/rows')]
  const { code, stderr } = await sluice(pull, { env })
  expect(code).toBe(1)
  expect(stderr).toMatch(/1 attachment fetched \(1 B, 1 refused\)/)
})

test('a link at the place of an unfinished file leads to no other file', async () => {
  const id = attach(0, { fileName: 'a.txt', content: 'from the instance' })
  await mkdir(path(`files/${ids[0]}`), { recursive: true })
  await writeFile(path('mine'), 'mine')
  await symlink(path('mine'), path(`files/${ids[0]}/${id}-a.txt.part`))
  expect(await pulled()).toMatchObject({ attachments: { fetched: 1, refused: 0 } })
  expect(readFileSync(path('mine'), 'utf8')).toBe('mine')
  expect(await files()).toEqual({ [`${ids[0]}/${id}-a.txt`]: 'from the instance' })
})

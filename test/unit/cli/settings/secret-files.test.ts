import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isSluiceError } from '../../../../src/index.js'
import {
  readAccess,
  readAdminKey,
  readFilesFrom,
  readQueueKey,
  readRemoteAccess,
  readServeToken,
  readServiceNowAccess,
  readTunnelToken,
  fileReader,
} from '../../../../src/cli/settings/option-files.js'
import { type Effective, resolveOptions } from '../../../../src/cli/settings/resolve.js'

/** Each option that names a file with a secret, and how the secret is read from it. */
const options: Readonly<Record<string, (effective: Effective) => Promise<unknown>>> = {
  queueKeyFile: readQueueKey,
  proxyFile: async effective => (await readAccess(effective)).proxy?.url,
  apiKeyFile: async effective => (await readAccess(effective)).apiKey,
  passwordFile: async effective => (await readAccess(effective)).password,
  sourceTokenFile: async effective => (await readRemoteAccess(effective)).token,
  serveTokenFile: readServeToken,
  tunnelTokenFile: readTunnelToken,
  adminKeyFile: readAdminKey,
  servicenowPasswordFile: async effective => (await readServiceNowAccess(effective)).password,
}
const names = Object.keys(options)

const secret = 'http://0123456789abcdef:0123456789abcdef@p.example:9293'

const same: Readonly<Record<string, string | Buffer>> = {
  'no line end': secret,
  'a line end of Unix': `${secret}\n`,
  'a line end of Windows': `${secret}\r\n`,
  'a BOM': `\uFEFF${secret}\r\n`,
  'white space around it': `  ${secret} \n\n`,
  'UTF-16, as PowerShell writes it': Buffer.from(`\uFEFF${secret}\r\n`, 'utf16le'),
  'UTF-16 of the other order': Buffer.from(`\uFEFF${secret}\r\n`, 'utf16le').swap16(),
}

const refused: Readonly<Record<string, readonly [string | Buffer | undefined, string]>> = {
  'nothing in it': ['', 'FILE is empty'],
  'only a line end': ['\n', 'FILE is empty'],
  'only a BOM and a line end': ['\uFEFF\r\n', 'FILE is empty'],
  'bytes that are no text': [Buffer.from(`${secret}\xE9`, 'latin1'), 'FILE is not UTF-8 text'],
  'a NUL in it': [`${secret}\0`, 'FILE is not UTF-8 text'],
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'secret-files-'))
})
afterAll(async () => await rm(folder, { recursive: true }))

async function read(option: string, path: string): Promise<unknown> {
  const needed = option === 'passwordFile' ? { username: 'u' } : { servicenowUrl: 'https://x.service-now.com' }
  return await options[option]?.(resolveOptions({ flags: { [option]: path, ...needed }, env: {} }))
}

async function refusalOf(option: string, path: string): Promise<string> {
  const error: unknown = await read(option, path).catch((one: unknown) => one)
  return isSluiceError(error) ? `${error.code} ${error.message}` : `no failure: ${String(error)}`
}

describe.each(names)('a file that %s names', option => {
  test.each(Object.entries(same))('holds the same secret with %s', async (_, bytes) => {
    const path = join(folder, 'same')
    await writeFile(path, bytes)
    expect(await read(option, path)).toBe(secret)
  })

  test.each(Object.entries(refused))('is refused with %s', async (_, [bytes = '', problem]) => {
    const path = join(folder, 'refused')
    await writeFile(path, bytes)
    const refusal = await refusalOf(option, path)
    expect(refusal).toContain(`: ${problem.replace('FILE', path)}`)
    expect(refusal).toContain('OPTION_INVALID --')
    expect(refusal).not.toContain('0123456789abcdef')
  })

  test('is refused if it is a folder, or does not exist, or is behind a file', async () => {
    await mkdir(join(folder, 'folder'), { recursive: true })
    await writeFile(join(folder, 'file'), '')
    expect(await refusalOf(option, join(folder, 'folder'))).toMatch(/cannot read \S+: it is a directory$/)
    expect(await refusalOf(option, join(folder, 'none'))).toMatch(/cannot read \S+: no such file$/)
    expect(await refusalOf(option, join(folder, 'file', 'x'))).toMatch(/cannot read \S+: a part of the path is a file$/)
  })
})

test('a file that may not be read is refused', async () => {
  const readFile = async () => await Promise.reject(Object.assign(new Error('EACCES'), { code: 'EACCES' }))
  const effective = resolveOptions({ flags: { proxyFile: 'p' }, env: {} })
  await expect(readAccess(effective, readFile)).rejects.toThrow('cannot read p: permission denied')
})

test('a key of several lines is the same with line ends of Windows', async () => {
  const key = ['0123456789abcdef0123456789abcdef', 'fedcba9876543210fedcba9876543210', '']
  const [unix, windows] = [join(folder, 'unix'), join(folder, 'windows')]
  await writeFile(unix, key.join('\n'))
  await writeFile(windows, key.join('\r\n'))
  expect(await read('queueKeyFile', windows)).toBe(await read('queueKeyFile', unix))
})

test('a list of files may begin with a BOM', async () => {
  const list = join(folder, 'list')
  await writeFile(list, '\uFEFFa.ndjson\r\nb.ndjson\r\n')
  const effective = resolveOptions({ flags: { filesFrom: list }, env: {} })
  expect(await readFilesFrom(effective, fileReader(effective))).toEqual({ files: ['a.ndjson', 'b.ndjson'] })
})

/** The files that `sluice init` writes: the configuration, and one file for each secret. */
import { lstat, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { geteuid } from 'node:process'
import { diskProblem, makeFolder, replaceFile } from '../../../base/disk/safe-files.js'
import { describeOption, type OptionName, optionNames } from '../../../options/describe-option.js'
import { invalid } from '../../../options/option-checks.js'
import type { ClusterAccess } from '../../settings/option-files.js'
import type { Effective } from '../../settings/resolve.js'

export interface ProjectFile {
  readonly path: string
  readonly text: string
  /** Only its owner may read it. */
  readonly isSecret: boolean
}

/** The folder of the secrets, in the working folder: a configuration file that Sluice finds by itself may only name files beside itself. */
const FOLDER = '.sluice'
const secretFiles = { proxy: 'proxy-url', apiKey: 'api-key', password: 'password' } as const

/** Options of a project: how to reach its cluster. The others belong to single commands. */
const groups: ReadonlySet<string> = new Set(['Cluster', 'Proxy and route'])

/** Returns the configuration file: what it held before, and how to reach the cluster. */
export function configOf({ values, origins }: Effective, before: Readonly<Record<string, unknown>>) {
  const rows = optionNames
    .map(describeOption)
    .filter(({ group, flag, environmentOnly }) => groups.has(group) && flag !== undefined && environmentOnly !== true)
  const names = new Set(rows.flatMap(({ name, flagKey }) => [name, flagKey]))
  const others = Object.entries(before).filter(([key]) => key !== '$schema' && !names.has(key))
  const kept = rows.flatMap(({ name, flagKey, secret }) => {
    const value = values[name]
    const isFromCloudId = name === 'url' && values.cloudId !== undefined
    if (value === undefined || value === false || origins[name] === 'default' || isFromCloudId) return []
    if (isSecret(name)) return [[`${name}File`, join(FOLDER, secretFiles[name])]]
    // The configuration is for everybody. What had credentials before was put there by the user.
    if (secret === 'url' && hasCredentials(value) && before[name] !== value && before[flagKey] !== value) return []
    return [[name, Array.isArray(value) ? value.join(',') : value]]
  })
  const schema = before['$schema'] ?? './node_modules/sluice/schema/sluice.config.schema.json'
  return Object.fromEntries([['$schema', schema], ...kept, ...others]) as Readonly<Record<string, unknown>>
}

/** Returns the files in the order in which they are written: the configuration names the others. */
export function filesOf(path: string, config: object, { values }: Effective, access: ClusterAccess): ProjectFile[] {
  const secrets = { proxy: access.proxy?.url, apiKey: access.apiKey, password: access.password }
  const names = (Object.keys(secretFiles) as (keyof typeof secretFiles)[]).filter(name => values[name] !== undefined)
  const files = names.map(name => ({
    path: join(FOLDER, secretFiles[name]),
    text: `${secrets[name] ?? ''}\n`,
    isSecret: true,
  }))
  const ignored = { path: join(FOLDER, '.gitignore'), text: '*\n', isSecret: false }
  return [
    ...(files.length === 0 ? [] : [ignored, ...files]),
    { path, text: `${JSON.stringify(config, null, 2)}\n`, isSecret: false },
  ]
}

function isSecret(name: OptionName): name is keyof typeof secretFiles {
  return Object.hasOwn(secretFiles, name)
}

/** Returns whether a URL names a user, or has a query, which may hold a token. */
function hasCredentials(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { username, password, search } = new URL(value)
  return [username, password, search].some(part => part !== '')
}

/** Returns the files to write, which of them exist, and which replace other contents. Throws SluiceError OPTION_INVALID. */
export async function compareFiles(files: readonly ProjectFile[]) {
  const folder = await lstat(FOLDER).catch(() => undefined)
  if (folder !== undefined && !folder.isDirectory()) throw invalid(FOLDER, 'is not a folder')
  // Who may write there can put a proxy of their own in the place of yours. Windows has permissions of another kind.
  const user = geteuid?.()
  if (folder !== undefined && user !== undefined && (folder.uid !== user || (folder.mode & 0o022) !== 0))
    throw invalid(FOLDER, 'belongs to another user, or others can write to it. Remove it, and Sluice makes a new one')
  const before = await Promise.all(files.map(contentsOf))
  const changed = files.filter(({ text }, at) => before[at]?.isOpen === true || text !== before[at]?.text)
  const textBefore = (file: ProjectFile) => before[files.indexOf(file)]?.text
  const existing = changed.filter(file => textBefore(file) !== undefined)
  return { changed, existing, replaced: existing.filter(file => file.text !== textBefore(file)) }
}

/** `isOpen`: others can read a secret. */
async function contentsOf({ path, isSecret: isOwn }: ProjectFile): Promise<{ text?: string; isOpen?: boolean }> {
  try {
    const isOpen = isOwn && ((await stat(path)).mode & 0o077) !== 0
    return { text: await readFile(path, 'utf8'), isOpen }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw unusable(path, error)
  }
}

/** Writes the files. If one cannot be written, removes the new ones. Throws SluiceError OPTION_INVALID. */
export async function writeFiles(files: readonly ProjectFile[], existing: readonly ProjectFile[]): Promise<void> {
  const written: ProjectFile[] = []
  for (const file of files) {
    const { path, text } = file
    try {
      if (path.startsWith(join(FOLDER, '/'))) await makeFolder(FOLDER)
      await replaceFile(path, text, { mode: file.isSecret ? 0o600 : 0o644 })
      written.push(file)
    } catch (error) {
      for (const one of written) if (!existing.includes(one)) await rm(one.path, { force: true })
      throw unusable(path, error)
    }
  }
}

function unusable(path: string, error: unknown) {
  return invalid(path, `cannot be used: ${diskProblem(error)}`)
}

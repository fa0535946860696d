/** JSON files that are replaced as a whole: whatever happens, the file is the old one or the new one. */
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type JsonObject, parseObject } from '../text/parse-json.js'
import { makeFolder } from './folders.js'
import { replaceFile } from './replace-file.js'

/** Resolves when the value is on the disk. Throws errors of the file system. */
export async function writeJson(path: string, value: object): Promise<void> {
  await replaceFile(path, `${JSON.stringify(value)}\n`)
}

/** Keeps a value for the next run, if it can: without the file the next run finds out for itself. */
export async function rememberJson(path: string, version: number, value: object): Promise<void> {
  try {
    await makeFolder(dirname(path))
    await writeJson(path, { version, ...value })
  } catch {
    // A file that cannot be written must not end a load.
  }
}

/** Returns what an earlier run kept. Returns nothing if the file is missing, unreadable or of another version. */
export async function recallJson(path: string, version: number): Promise<JsonObject> {
  try {
    const kept = parseObject(await readFile(path))
    return kept?.['version'] === version ? kept : {}
  } catch {
    return {}
  }
}

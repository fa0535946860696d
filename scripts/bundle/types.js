// Writes one declaration file for each door: its public names and what they need, and nothing else. No kept tool merges what features add to the
// receipt by `declare module`: API Extractor drops it, rolldown-plugin-dts (which needs Node 22) and rollup-plugin-dts leave it under the name of a file.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { doors } from './doors.js'
import { RollUp } from './types/roll-up.js'

/** The client of Elasticsearch names this package and does not install it. A real one comes first. */
const arrow = `declare module 'apache-arrow/*' {
  export type Table<T> = T
  export type TypeMap = unknown
  export type AsyncRecordBatchStreamReader = unknown
}
`

export async function writeTypes(build) {
  const { failureCodes } = await import(pathToFileURL(join(build, 'base/failure/failure.js')))
  const codes = failureCodes.map(code => `\n  | '${code}'`).join('')
  // The declaration would hold the texts of all failures.
  const instead = { FailureCode: `type FailureCode =${codes}` }
  const all = readdirSync(build, { recursive: true }).filter(path => path.endsWith('.d.ts'))
  const rolled = doors().map(door => {
    const path = join(build, door.replace(/js$/, 'd.ts'))
    return {
      path,
      text: new RollUp(
        all.map(one => join(build, one)),
        instead,
      ).of(path),
    }
  })
  for (const { path, text } of rolled) {
    const needsArrow = text.includes("from '@elastic/elasticsearch'")
    const whole = needsArrow ? `/// <reference path="./apache-arrow.d.ts" />\n${text}` : text
    writeFileSync(path, whole)
    writeFileSync(path.replace(/ts$/, 'cts'), whole)
  }
  writeFileSync(join(build, 'apache-arrow.d.ts'), arrow)
}

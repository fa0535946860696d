/** The plan of src, as test/support/house.ts states it once. Node 20 reads no TypeScript, so its types are taken off here. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'rolldown/experimental'

const path = fileURLToPath(new URL('../../test/support/house.ts', import.meta.url))
const { code } = transformSync(path, readFileSync(path, 'utf8'))

export const plan = await import(`data:text/javascript,${encodeURIComponent(code)}`)

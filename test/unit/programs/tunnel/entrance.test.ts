import { request } from 'node:http'
import { expect, test } from 'vitest'
import { openEntrance } from '../../../../src/programs/tunnel/entrance.js'

const passage = { hasLogin: false, isKnown: () => true, idleMs: 60_000, onRefusal: () => {} }
const destination = (prefix: string) => ({ name: 'cluster', requests: { prefix } }) as never

async function statusOf(port: number, path: string): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers: { host: 'localhost' } }, ({ statusCode }) => resolve(statusCode))
      .on('error', reject)
      .end()
  })
}

test.each(['/../other', '/a/../../other', '/%2e%2e/other', '/..%2fother', '/.%2E', '/..?q', '/a\\..\\b'])(
  'a request does not leave the path of the cluster by %s',
  async path => {
    const entrance = await openEntrance(destination('/es'), 0, passage as never)
    expect(await statusOf(entrance.port, path)).toBe(400)
    await entrance.close(AbortSignal.abort())
  },
)

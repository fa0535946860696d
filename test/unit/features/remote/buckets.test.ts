import * as sdk from '@aws-sdk/client-s3'
import { afterEach, expect, test, vi } from 'vitest'
import { Buckets } from '../../../../src/features/remote/buckets.js'
import { SourceRoutes } from '../../../../src/features/remote/routes.js'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

test('the SDK prints nothing about versions of Node, and other warnings are still printed', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAIOSFODNN7EXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'not a secret')
  vi.stubEnv('AWS_REGION', 'eu-central-1')
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const routes = new SourceRoutes({ proxy: undefined, ca: undefined, connectTimeoutMs: undefined })
  const asked = vi.spyOn(routes, 'ask').mockRejectedValue(new Error('not sent'))
  const get = new Buckets(sdk, routes).get('s3://bucket/a.ndjson', { signal: new AbortController().signal })
  await expect(get).rejects.toThrow('not sent')
  expect(asked).toHaveBeenCalledOnce()
  expect(warned).not.toHaveBeenCalled()
  process.emitWarning('another one')
  expect(warned).toHaveBeenCalledOnce()
})

test('objects of a server that is not Amazon’s are asked for side by side from the first request on', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAIOSFODNN7EXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'not a secret')
  vi.stubEnv('AWS_ENDPOINT_URL_S3', 'http://127.0.0.1:9')
  const routes = new SourceRoutes({ proxy: undefined, ca: undefined, connectTimeoutMs: undefined })
  const paths: string[] = []
  vi.spyOn(routes, 'ask').mockImplementation((_, origin, { path }) => {
    paths.push(`${origin}${path.split('?')[0]}`)
    return Promise.reject(new Error('not sent'))
  })
  const buckets = new Buckets(sdk, routes)
  const { signal } = new AbortController()
  const names = ['a', 'b', 'c'].map(name => `s3://bucket/${name}`)
  const asked = await Promise.allSettled(names.map(async name => await buckets.get(name, { signal })))
  expect(asked.map(one => (one.status === 'rejected' ? String(one.reason) : one.status))).toEqual(
    names.map(() => expect.stringContaining('not sent')),
  )
  expect(paths.toSorted()).toEqual(['a', 'b', 'c'].map(name => `http://127.0.0.1:9/bucket/${name}`))
})

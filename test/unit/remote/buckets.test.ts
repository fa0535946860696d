import * as sdk from '@aws-sdk/client-s3'
import { afterEach, expect, test, vi } from 'vitest'
import { Buckets } from '../../../src/remote/buckets.js'
import { SourceRoutes } from '../../../src/remote/routes.js'

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

import { expect, test } from 'vitest'
import { strangerIn } from '../../../../src/route/cluster/strangers.js'

test.each([{}, { server: 'nginx', via: '1.1 a' }])(
  'a web page is known by the first line behind the headers (%j)',
  headers => {
    expect(strangerIn(200, headers, '\n <!DOCTYPE html><p>')?.is).toBe('it is a web page')
    expect(strangerIn(200, headers, 'text\n\n<html>')).toBeUndefined()
    expect(strangerIn(200, headers, '\n'.repeat(20_000))).toBeUndefined()
  },
)

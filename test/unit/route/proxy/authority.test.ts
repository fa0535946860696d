import { expect, test } from 'vitest'
import { secureLayer } from '../../../../src/route/proxy/tls-layer.js'

test('a path in the place of the CA is told from a file without a certificate', () => {
  const open = (ca: string) => () => secureLayer({ ca }, 'TLS to the cluster')
  expect(open('/etc/ssl/my-ca.pem')).toThrow('If it is a path, read the file and pass its text')
  expect(open('# no certificate\n')).toThrow('the CA file contains no certificate in PEM form')
})

import { expect, test } from 'vitest'
import { isSluiceError } from '../../../../src/base/failure/failure.js'
import { refused } from '../../../../src/features/remote/buckets.js'
import { refusalOf } from '../../../../src/features/remote/judge-answer.js'
import { withoutLogins } from '../../../../src/features/remote/without-logins.js'

const keyId = 'AKIAIOSFODNN7EXAMPLE'
const key = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
const signature = 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404'
const token = `IQoJb3JpZ2luX2VjEJr${'abc1'.repeat(80)}==`
const secrets = [keyId, key, signature, token, encodeURIComponent(key)]

test.each(secrets)('%s is hidden, wherever it stands', secret => {
  for (const text of [
    secret,
    `Credential=${secret}/20261123/eu-central-1/s3/aws4_request`,
    `'${secret}',`,
    `x:${secret}\n`,
  ])
    expect(withoutLogins(text)).not.toContain(secret)
})

test('usual words stay', () => {
  const said = [
    'Could not load credentials from any providers',
    'The SSO session token associated with profile=production was not found or is invalid. To refresh this SSO session run aws sso login',
    'User: arn:aws:iam::123456789012:user/loader is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::123456789012:role/reader',
    "The authorization header is malformed; the region 'us-east-1' is wrong; expecting 'eu-central-1'",
    "ENOENT: no such file or directory, open '/home/sluice/.aws/config'",
  ]
  for (const text of said) expect(withoutLogins(text)).toBe(text)
})

test('a short secret is hidden if it is known', () => {
  expect(withoutLogins('user minioadmin of abc', ['minioadmin', 'abc', undefined])).toBe('user *** of abc')
})

test('neither a failed login nor a refusal shows a secret', () => {
  const failed = Object.assign(new Error(`Command failed: /opt/login --token ${token}\nsecret is ${key}`), {
    name: 'CredentialsProviderError',
  })
  const [input] = ['s3://bucket/a.ndjson']
  const error = refused(input, failed)
  expect(isSluiceError(error) && error.message).toContain('the credential_process of the profile failed')
  const expired = Object.assign(new Error(`The token ${token} of ${keyId} is expired, signature ${signature}`), {
    name: 'TokenProviderError',
  })
  const refusal = refused(input, expired)
  const answer = refusalOf(
    input,
    { status: 403, headers: {}, code: 'AccessDenied', message: `not ${keyId}, ${signature}` },
    0,
  )
  const shown = `${JSON.stringify(isSluiceError(refusal) && refusal.failure)}${JSON.stringify(answer)}`
  expect(shown).toContain('The token *** of *** is expired, signature ***')
  for (const secret of secrets) expect(shown).not.toContain(secret)
})

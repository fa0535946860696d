import { describe, expect, test } from 'vitest'
import { bucketAndKey, isSourceUrl, readSourceUrl, shownSource } from '../../../../src/base/text/source-url.js'

describe('the URL of an input', () => {
  test.each([
    ['https://files.example/a.ndjson', 'https://files.example/a.ndjson'],
    ['https://USER:SECR%40T@files.example/a.ndjson', 'https://files.example/a.ndjson'],
    ['https://files.example/a?X-Amz-Credential=k&X-Amz-Signature=SECRET', 'https://files.example/a'],
    ['https://files.example/a?sv=2024&sig=SECRET#SECRET', 'https://files.example/a'],
    ['https://files.example/a?Expires=1&Signature=SECRET&Key-Pair-Id=k', 'https://files.example/a'],
    ['HTTPS://Files.Example/a', 'https://files.example/a'],
    ['s3://bucket/a b?c#d%20*.gz', 's3://bucket/a b?c#d%20*.gz'],
  ])('%s is known as %s', (text, name) => {
    expect(readSourceUrl(text)?.name).toBe(name)
    expect(shownSource(text)).toBe(name)
  })

  test('another query is another input, and not shown', () => {
    const [one, other] = ['https://files.example/a?token=SECRET1', 'https://files.example/a?token=SECRET2'].map(
      text => readSourceUrl(text)?.name,
    )
    expect(one).toMatch(/^https:\/\/files\.example\/a\?~[\w-]{10}$/)
    expect(one).not.toBe(other)
    expect(`${one}${other}`).not.toContain('SECRET')
  })

  test.each([
    ['table=orders&sig=SECRET1', 'table=users&sig=SECRET2'],
    ['versionId=1&X-Amz-Signature=SECRET1', 'versionId=2&X-Amz-Signature=SECRET1'],
    ['policy=4711', 'policy=4712'],
  ])('signed or not, ?%s and ?%s are two inputs', (...queries) => {
    const [one, other] = queries.map(query => readSourceUrl(`https://files.example/a?${query}`)?.name)
    expect(one).toMatch(/^https:\/\/files\.example\/a\?~[\w-]{10}$/)
    expect(one).not.toBe(other)
  })

  test.each([
    ['id=7&Expires=1&Signature=SECRET1', 'id=7&Signature=SECRET2&Expires=2'],
    ['id=7&sv=2024-05-04&se=2026-01-01&sp=r&skoid=a&sig=SECRET1', 'id=7&sv=2025-01-05&se=2026-02-02&sp=r&sig=SECRET2'],
  ])('?%s and ?%s are signed for one input', (...queries) => {
    const [one, other] = queries.map(query => readSourceUrl(`https://files.example/a?${query}`)?.name)
    expect(one).toBe(other)
  })

  test.each([
    'https://',
    'https://u:p/w@files.example/',
    'https://files.example/a b',
    's3:///key',
    's3://b@d/key',
    'https://%zz@h/',
  ])('%s cannot be read, and shows nothing', text => {
    expect(readSourceUrl(text)).toBeUndefined()
    expect(shownSource(text)).toMatch(/^(https|s3):\/\/\*\*\*$/)
  })

  test('lists its secrets as they are sent and as they are written', () => {
    const { secrets = [] } = readSourceUrl('https://u:p%40ss%3Aword@files.example/a?sig=a%2Bsignature') ?? {}
    expect(secrets).toEqual(expect.arrayContaining(['p@ss:word', 'p%40ss%3Aword', 'a+signature', 'a%2Bsignature']))
  })

  test('is told from a path', () => {
    expect(['https://h/a', 'S3://b/k', 'http://h'].every(isSourceUrl)).toBe(true)
    expect(['https:/h', './https://h', 'servicenow:incident', 'ftp://h/a', '-'].some(isSourceUrl)).toBe(false)
  })

  test('splits a bucket from its key', () => {
    expect(bucketAndKey('s3://b/a//b/c')).toEqual({ bucket: 'b', key: 'a//b/c' })
    expect(bucketAndKey('s3://b')).toEqual({ bucket: 'b', key: '' })
  })
})

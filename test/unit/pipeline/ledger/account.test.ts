import { expect, test } from 'vitest'
import { Account, sumOf } from '../../../../src/pipeline/ledger/account.js'

test('a copy of an account stays as it was, and balances, while more is counted', () => {
  const account = new Account()
  const refused = { status: 400, type: 'document_parsing_exception', reason: '' }
  account.reject(refused)
  const { counts, rejections } = account
  account.reject(refused)
  expect(rejections.map(({ documents }) => documents)).toEqual([counts.rejected])
  expect(sumOf(new Account(), { counts, rejections }).counts.rejected).toBe(1)
})

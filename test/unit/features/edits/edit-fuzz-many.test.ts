// @module-tag long
import { test } from 'vitest'
import { fuzzEditKernel, fuzzEdits } from '../../../support/random/edit-fuzz.js'
import { rounds } from '../../../support/rounds.js'

test('edits make of very many documents what the model makes of them', async () => {
  await fuzzEdits(201, rounds(300, 20_000))
})

test('the kernel and plain JavaScript edit very many broken and odd lines alike', async () => {
  await fuzzEditKernel(rounds(5000, 100_000))
})

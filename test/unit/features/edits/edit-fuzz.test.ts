import { test } from 'vitest'
import { fuzzEditKernel, fuzzEdits } from '../../../support/random/edit-fuzz.js'

test('edits make of every document what the model makes of it, wherever the bytes are cut', async () => {
  await fuzzEdits(1, 200)
})

test('the kernel and plain JavaScript edit broken and odd lines alike', async () => {
  await fuzzEditKernel(400)
})

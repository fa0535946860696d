const MINUS: u8 = 0x2d
const PLUS: u8 = 0x2b
const POINT: u8 = 0x2e
const ZERO: u8 = 0x30
const LOWER_E: u8 = 0x65

/** Returns the offset after the number that begins at `from`. Returns 0 if there is none. */
// @ts-ignore: decorator
@inline
export function endOfNumber(from: usize): usize {
  const whole = from + usize(load<u8>(from) == MINUS)
  const others = notDigits(whole)
  let at = others == 0 ? afterDigits(whole + 8) : whole + first(others)
  if (at == whole) return 0
  if (load<u8>(whole) == ZERO && at > whole + 1) return 0
  if (load<u8>(at) == POINT) {
    const fraction = at + 1
    // As a rule the fraction ends within the same eight bytes.
    const behind = others & (others - 1)
    at = behind == 0 ? afterDigits(fraction) : whole + first(behind)
    if (at == fraction) return 0
  }
  if ((load<u8>(at) | 0x20) == LOWER_E) {
    at += 1
    const sign = load<u8>(at)
    if (sign == PLUS || sign == MINUS) at += 1
    const exponent = at
    at = afterDigits(exponent)
    if (at == exponent) return 0
  }
  return at
}

// @ts-ignore: decorator
@inline
function afterDigits(from: usize): usize {
  let at = from
  while (true) {
    const others = notDigits(at)
    if (others != 0) return at + first(others)
    at += 8
  }
}

/** Eight bytes at once: the highest bit of each that is no digit. */
// @ts-ignore: decorator
@inline
function notDigits(at: usize): u64 {
  // Makes 0 to 9 of a digit. Other bytes have their highest bit set then, or get it when 0x76 is added.
  const bytes = load<u64>(at) ^ 0x3030303030303030
  return (bytes | (bytes + 0x7676767676767676)) & 0x8080808080808080
}

// @ts-ignore: decorator
@inline
function first(bits: u64): usize {
  return <usize>(ctz(bits) >> 3)
}

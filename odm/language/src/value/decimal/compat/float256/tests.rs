use super::*;
use crate::value::decimal::DIGITS;
use crate::value::u256::pow10;

/// Checks the magnitude to 200 bits: it is `first.second`, both of 34 digits, times `10^-places`.
fn check(got: Float256, first: u128, second: u128, places: u32) {
    let unit = Float256::ONE / Float256::pow5(places).times_pow2(places.cast_signed());
    let second_unit = Float256::pow5(DIGITS).times_pow2(DIGITS.cast_signed());
    let wanted = (Float256::integer(first) + Float256::integer(second) / second_unit) * unit;
    let off = (got.abs() - wanted).abs();
    let bound = wanted.times_pow2(-200);
    assert!(off.compare(bound).is_lt(), "{got:?} is not {wanted:?}");
}

const ONES: u128 = 1_111_111_111_111_111_111_111_111_111_111_111;

#[test]
fn sums_products_and_quotients_agree_with_fractions() {
    let third = Float256::ONE / Float256::integer(3);
    check(third, pow10(DIGITS) / 3, pow10(DIGITS) / 3, DIGITS);
    let ninth = third * third;
    check(ninth, ONES, ONES, DIGITS);
    let rest = Float256::ONE - third - third;
    assert!(
        (rest - third)
            .abs()
            .compare(Float256::ONE.times_pow2(-250))
            .is_lt()
    );
    assert!((third - third).is_zero());
    let half = Float256::ONE / Float256::TWO;
    assert!((half + half).compare(Float256::ONE).is_eq());
    assert!((-half + -half).is_negative());
}

#[test]
fn functions_are_accurate_to_200_bits() {
    let half = Float256::ONE / Float256::TWO;
    let seven = Float256::integer(7);
    let check = |got: Float256, (first, second, places)| check(got, first, second, places);
    check(
        Float256::ONE.exp(),
        (
            2_718_281_828_459_045_235_360_287_471_352_662,
            4_977_572_470_936_999_595_749_669_676_277_240,
            33,
        ),
    );
    check(
        (-Float256::integer(100)).exp(),
        (
            3_720_075_976_020_835_962_959_695_803_863_118,
            3_373_588_922_923_767_819_671_206_138_766_632,
            77,
        ),
    );
    check(
        seven.ln(),
        (
            1_945_910_149_055_313_305_105_352_743_443_179,
            7_296_370_847_295_818_611_884_593_901_499_375,
            33,
        ),
    );
    check(
        (Float256::ONE / Float256::pow5(30).times_pow2(30)).ln(),
        (
            6_907_755_278_982_137_052_053_974_364_053_092,
            6_228_033_044_658_863_189_280_999_837_029_027,
            32,
        ),
    );
    check(
        Float256::ONE.times_pow2(-60).ln_1p(),
        (
            8_673_617_379_884_035_468_298_040_484_328_213,
            6_680_813_945_702_216_553_384_687_517_320_148,
            52,
        ),
    );
    check(
        Float256::TWO.sqrt(),
        (
            1_414_213_562_373_095_048_801_688_724_209_698,
            785_696_718_753_769_480_731_766_797_379_907,
            33,
        ),
    );
    check(
        half.sin(),
        (
            4_794_255_386_042_030_002_732_879_352_155_713,
            8_808_180_336_794_060_067_518_861_661_312_553,
            34,
        ),
    );
    check(
        half.cos(),
        (
            8_775_825_618_903_727_161_162_815_826_038_296,
            5_199_164_519_710_974_405_299_761_086_831_595,
            34,
        ),
    );
    check(
        half.atan(),
        (
            4_636_476_090_008_061_162_142_562_314_612_144,
            202_853_705_428_612_026_381_093_308_872_019,
            34,
        ),
    );
    check(
        (-seven).atan(),
        (
            1_428_899_272_190_732_696_418_470_074_537_198,
            3_590_908_029_409_590_888_381_093_422_667_904,
            33,
        ),
    );
    check(
        half.asin(),
        (
            5_235_987_755_982_988_730_771_072_305_465_838,
            1_403_286_156_656_251_763_682_915_743_205_130,
            34,
        ),
    );
    check(
        half.sinh(),
        (
            5_210_953_054_937_473_616_224_256_264_114_915,
            5_910_592_898_261_148_052_794_609_357_645_280,
            34,
        ),
    );
    check(
        half.cosh(),
        (
            1_127_625_965_206_380_785_226_225_161_402_672,
            125_478_471_180_986_674_836_289_857_351_878,
            33,
        ),
    );
    check(
        half.tanh(),
        (
            4_621_171_572_600_097_585_023_184_836_436_725,
            4_873_028_928_033_011_303_855_273_181_583_808,
            34,
        ),
    );
    check(
        Float256::integer(3).tanh(),
        (
            9_950_547_536_867_304_513_318_801_852_554_884,
            7_509_781_385_470_028_249_182_387_881_513_066,
            34,
        ),
    );
    check(
        half.asinh(),
        (
            4_812_118_250_596_034_474_977_589_134_243_684,
            2_313_518_433_438_566_051_966_101_816_884_016,
            34,
        ),
    );
    check(
        seven.acosh(),
        (
            2_633_915_793_849_633_417_250_092_694_615_936,
            8_880_539_639_429_350_329_595_369_445_138_409,
            33,
        ),
    );
}

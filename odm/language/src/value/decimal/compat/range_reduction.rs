//! Reduces angles to quarter turns and a rest.

use crate::value::decimal::compat::binary128::Binary128;
use crate::value::decimal::compat::float256::Float256;
use crate::value::u256::Uint256;

/// The number of 64-bit words to which a fraction of a turn is computed.
const WORDS: usize = 6;

/// Splits a positive angle into quarter turns, rounded to the nearest and without whole turns, and a rest of at most an
/// eighth of a turn in either direction.
///
/// The time and memory needed grow with the exponent.
pub(in crate::value::decimal) fn quarters(coefficient: u128, exponent: i32) -> (u8, Binary128) {
    let turns = times(&turns_of_ten(exponent), coefficient);
    let bits = top(&turns);
    let quarters = u8::try_from(bits.high() >> 126).unwrap_or(0);
    let rest = bits.shl(2);
    let half_pi = Binary128::from_real(Float256::PI.times_pow2(-1));
    if rest.high() >> 127 == 0 {
        return (quarters, half_pi * Binary128::from_fraction(false, rest));
    }
    let rest = Uint256::new(!rest.high(), !rest.low());
    let rest = Binary128::from_fraction(true, rest);
    ((quarters + 1) % 4, half_pi * rest)
}

/// `10^exponent` radians as a fraction of a turn, without whole turns.
fn turns_of_ten(exponent: i32) -> Vec<u64> {
    /// The number of factors of five that a word holds.
    const FIVES: u32 = 27;
    let power = exponent.unsigned_abs();
    if exponent < 0 {
        let mut turns: Vec<u64> = ONE_RADIAN.iter().take(WORDS + 1).copied().collect();
        divide(&mut turns, 10u64.pow(power.min(19)));
        divide(&mut turns, 10u64.pow(power.saturating_sub(19).min(19)));
        turns.truncate(WORDS);
        return turns;
    }
    // the factors of two are a shift; each multiplication by `5^FIVES` makes the last word inexact
    let factors = power / FIVES;
    let words = WORDS + 2 + factors as usize;
    let mut turns: Vec<u64> = from_bit(power).take(words).collect();
    for _ in 0..factors {
        multiply(&mut turns, 5u64.pow(FIVES));
        turns.pop();
    }
    multiply(&mut turns, 5u64.pow(power % FIVES));
    turns.truncate(WORDS);
    turns
}

/// One radian as a fraction of a turn, without its first `bit` bits.
fn from_bit(bit: u32) -> impl Iterator<Item = u64> {
    let words = ONE_RADIAN.iter().skip((bit / 64) as usize);
    let next = words.clone().skip(1);
    words.zip(next).map(move |(&word, &next)| {
        let both = u128::from(word) << 64 | u128::from(next);
        let [high, _] = split(both << (bit % 64));
        high
    })
}

fn split(both: u128) -> [u64; 2] {
    let word = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or(0);
    [word(both >> 64), word(both)]
}

/// Multiplies a fraction; the integer part is lost.
fn multiply(turns: &mut [u64], factor: u64) {
    let mut carry = 0;
    for word in turns.iter_mut().rev() {
        let product = u128::from(*word) * u128::from(factor) + u128::from(carry);
        [carry, *word] = split(product);
    }
}

fn divide(turns: &mut [u64], divisor: u64) {
    let divisor = u128::from(divisor);
    let mut rest = 0;
    for word in turns {
        let part = rest << 64 | u128::from(*word);
        [_, *word] = split(part / divisor);
        rest = part % divisor;
    }
}

/// The product of a fraction and a 128-bit number; the integer part is lost.
fn times(turns: &[u64], factor: u128) -> Vec<u64> {
    let [high, low] = split(factor);
    let mut products = turns.to_vec();
    multiply(&mut products, low);
    let mut higher = turns.to_vec();
    multiply(&mut higher, high);
    // these products stand one word higher
    let higher = [0].into_iter().chain(higher.into_iter().skip(1).rev());
    let mut carry = 0;
    for (word, more) in products.iter_mut().rev().zip(higher) {
        let sum = u128::from(*word) + u128::from(more) + u128::from(carry);
        [carry, *word] = split(sum);
    }
    products
}

/// The first 256 bits.
fn top(turns: &[u64]) -> Uint256 {
    let mut words = turns.iter().copied().map(u128::from);
    let mut two = || words.next().unwrap_or(0) << 64 | words.next().unwrap_or(0);
    Uint256::new(two(), two())
}

/// The bits of `1 / 2π` after the point: as many as the last digit of the largest decimal needs.
#[rustfmt::skip]
const ONE_RADIAN: [u64; 328] = [
    0x28be_60db_9391_054a, 0x7f09_d5f4_7d4d_3770, 0x36d8_a566_4f10_e410, 0x7f94_58ea_f7ae_f158,
    0x6dc9_1b8e_9093_74b8, 0x0192_4bba_8274_6487, 0x3f87_7ac7_2c4a_69cf, 0xba20_8d7d_4bae_d121,
    0x3a67_1c09_ad17_df90, 0x4e64_758e_60d4_ce7d, 0x2721_17e2_ef7e_4a0e, 0xc7fe_25ff_f781_6603,
    0xfbcb_c462_d682_9b47, 0xdb4d_9fb3_c9f2_c26d, 0xd3d1_8fd9_a797_fa8b, 0x5d49_eeb1_faf9_7c5e,
    0xcf41_ce7d_e294_a4ba, 0x9afe_d7ec_47e3_5742, 0x1580_cc11_bf1e_daea, 0xfc33_ef08_26bd_0d87,
    0x6a78_e458_57b9_86c2, 0x1966_6157_c528_1a10, 0x237f_f620_135c_c9cc, 0x4181_8555_b29c_ea32,
    0x5838_9ef0_231a_d1f1, 0x0670_d9f3_773a_024a, 0xa0d6_711d_a2e5_8729, 0xb76b_d134_55c6_414f,
    0xa97f_c1c1_4fdf_8cfa, 0x0cb0_b793_e60c_9f6e, 0xf0cf_49bb_dac7_97be, 0x27ce_87cd_72bc_9fc7,
    0x61fc_4864_1f1f_091a, 0xbe9b_b55d_cb4c_10ce, 0xc571_852d_6746_70f0, 0xb12b_5053_4b17_4003,
    0x119f_618b_5c78_e6b1, 0xa6c0_188c_df34_ad25, 0xe9ed_3555_4dfd_8fb5, 0xc604_28ff_1d93_4aa7,
    0x592a_f5dc_3e1f_18d5, 0xec1e_b9c5_45d5_9270, 0x3675_8ece_2129_f2c8, 0xc91d_e2b5_88d5_16ae,
    0x47c0_06c2_bc77_f386, 0x7fcc_67da_8799_9855, 0xe651_feeb_361f_dfad, 0xd948_a27a_0c98_2ff9,
    0xb371_3bc2_4d9b_350f, 0xd775_f785_b78e_d624, 0xa6f7_8a08_b4ba_218a, 0x1356_388c_b2b1_85b8,
    0xc232_df78_1430_05e9, 0xc77c_d6f8_060d_04cb, 0x9884_a0c0_5220_d6e3, 0xbd5f_ec2b_7cba_4790,
    0xd292_34d9_c436_376a, 0x9097_ebb3_985a_a90a, 0x02ad_2674_fca9_819f, 0xddd7_20f0_a8e2_0f18,
    0x5e1c_e296_a32b_ef75, 0xdbd8_e98b_72ef_fd3b, 0xe063_59f0_4991_7295, 0x4db6_72b4_aa0a_2358,
    0x709d_f244_8509_8126, 0xd184_b116_7111_3172, 0x246c_937c_c5c0_2b50, 0xf539_524a_4435_7f7f,
    0x2f80_3325_07bb_b39c, 0x3d4f_84e0_3c7b_30f9, 0xecca_3e31_e501_64cf, 0x9c70_6cc2_4bbc_d142,
    0xe704_a21e_c82a_e7ed, 0x4bb0_a491_cbcc_9edb, 0x5543_2429_dc87_f9da, 0xe5b2_cc52_859e_789e,
    0x5062_77fd_25e5_3a21, 0x39b8_a5cc_665a_fb62, 0x0d97_d7c3_bf6e_ed26, 0x921b_2919_d09c_9c4c,
    0x9763_6e05_67c2_796f, 0x094c_634e_5d3d_c701, 0x4c00_4303_5a02_12d6, 0x3b8b_242a_91c0_b9dd,
    0x0935_af69_9f7d_dc92, 0x1bbb_c5a7_e9a5_23bd, 0xa46d_1454_f47c_82b3, 0xcce6_081f_92fd_5a18,
    0xec97_cfb7_40d7_501f, 0xe261_4a54_9570_190d, 0xc436_1b4c_920c_9d53, 0x16f5_1c53_9b95_1170,
    0x4242_da7d_4ab5_5985, 0x2741_c9d4_0117_76ce, 0xed31_5dba_85fe_61df, 0x5ad2_6e89_c74a_5a65,
    0xab33_3195_052b_5ab8, 0xa422_7662_141c_8b2f, 0xa901_2501_dddc_0c3c, 0xc9ff_002a_1c7a_9270,
    0x998f_7819_20f7_65e5, 0xcfe8_ff65_10e3_2183, 0x7790_4c67_4e64_a31c, 0x3779_edc5_cef7_c20a,
    0xcdc5_6820_1724_e016, 0xa484_4436_3a03_ebe0, 0x1b12_fff6_c3e4_0e1d, 0x8616_4569_58ae_f2d8,
    0x6e62_71ef_5004_013c, 0xb489_dd52_7dad_baee, 0xc8b6_ea85_028b_c9a2, 0x5da0_d90c_cec2_46a5,
    0x03aa_8e94_70a8_c76b, 0xbb6b_c489_9713_709b, 0x671e_8b65_d5b0_20cf, 0xc0fd_bc02_6310_0ae6,
    0x4c5b_41ed_0e45_4803, 0x16f0_f631_24bd_52eb, 0x71a9_7293_b34d_e9cd, 0xaa79_a524_aada_10b7,
    0x7798_c67b_e31d_94a2, 0xda0d_f6ff_2ae8_6b8c, 0x4577_e86b_8036_bec3, 0x1993_592d_c17b_4c19,
    0x4a6f_d595_cebf_d1ee, 0x7e5a_bcef_9d77_e4ca, 0x0c20_2afd_a319_8572, 0xc101_88be_8779_3669,
    0x2ccf_63c6_d5c2_734d, 0xba50_93a9_2f84_ed48, 0xccc6_aabc_2a19_53e9, 0x7074_83cf_c2f3_5e16,
    0xddbe_48c1_22de_dc85, 0xe254_e9b1_b89b_9bc0, 0x3afb_d612_a6ed_f6b1, 0x2e99_aab3_f3dd_8740,
    0xb44b_7c6c_7066_631d, 0xeb70_f692_21a8_177d, 0xfd20_318b_fc2b_26bb, 0x376f_170f_db77_b407,
    0xf1e4_2db6_ca8e_8968, 0xe6ab_c024_d4eb_4115, 0xedad_0b4a_5fa0_12e9, 0xc1f6_83aa_9da8_565e,
    0xca84_858b_6df7_3f79, 0x7ebf_b6e2_7f6f_a25b, 0x1db9_3f2a_419c_200f, 0x855b_a17f_e1ff_41cf,
    0x8a0c_d9d8_6186_0aba, 0xaf53_6bf9_ecdb_9b63, 0xce59_e556_efcc_5235, 0xe105_b7cc_10cb_71cd,
    0x5849_739c_326e_32cc, 0x3f5b_2fe8_8029_391b, 0x0168_3756_91db_c874, 0x8498_a117_2e52_585c,
    0x3815_9ac0_54a6_4dd5, 0x542d_f547_b13c_4cd7, 0xdb84_f90c_176a_4ba1, 0x70ec_874d_8ca8_692d,
    0xc235_2c7a_887d_c5b9, 0x1a63_ddff_c9e0_00c3, 0x0b50_2368_3353_e669, 0x4834_e8ac_c297_4bd0,
    0xbe6d_32f6_8474_2f9f, 0x7076_e6ef_45ea_e068, 0xb297_1a82_05d5_4b95, 0x4009_fc05_1fe1_81f8,
    0x5902_c523_5065_b7af, 0xa1ca_bf76_ad89_5acd, 0x225e_ffbc_c167_afee, 0x53da_9a2a_0a92_96b1,
    0x13ef_3e0b_6616_b5e5, 0x71fd_2353_4369_8e88, 0x17d5_e92c_4fc5_254e, 0x2000_4833_21b7_5c6d,
    0xb7b2_7d58_2fc4_5953, 0x5ac1_c06b_2c23_3430, 0x2c92_1554_43be_c7b0, 0xdca5_4ec1_a8cd_5030,
    0x1ef7_01b3_1178_3e8a, 0x53b2_32b5_907c_fa37, 0x991f_3619_26cc_6fb6, 0x70e5_e935_161d_f178,
    0xda44_f6bc_0f0e_ae91, 0x8611_97dd_557d_6f74, 0xb1a4_9b97_4bab_3b51, 0x0390_8f87_21f1_187a,
    0x7f4a_7cf5_b9f2_9f08, 0x8d64_5bf1_7802_2375, 0xfff8_9a9b_b1bf_6c30, 0x4224_dd17_5f2c_ab5a,
    0xe75b_b35e_dc8f_9a84, 0x71aa_73fd_f7dc_ca6e, 0xb26d_5440_2dc3_6cb8, 0x892e_9d18_1f79_62b6,
    0x1d0b_0543_4306_2065, 0x199f_858a_405d_9ea7, 0xefbf_7f7b_d155_8d9f, 0xb644_f67b_2e6e_a2ff,
    0x25f1_09ea_0c70_dbbc, 0x4db1_6515_aa36_2d6a, 0x2d03_b333_cb62_448d, 0x15db_e255_8b38_f3a6,
    0x6e48_35aa_979a_e70a, 0x8fb3_17c4_5282_ff7e, 0xfd38_5b4e_e38b_21b8, 0xa135_3a6a_6d3f_347b,
    0xbbf2_4d4b_984e_4bd1, 0x084e_3236_46c2_bf20, 0x5a92_bef6_070b_e12d, 0x14e3_2653_b308_9537,
    0x154a_b5b1_b025_8642, 0xee1c_0699_255a_5816, 0x89bb_948f_c3c4_5fc4, 0x6d7d_3d72_ff0b_6f0d,
    0x3baf_0d33_177a_1817, 0xb766_e399_fbcc_e4ae, 0x05f2_66d6_186f_15f8, 0x71a0_d444_0fb6_121c,
    0x7777_470b_6846_2bd1, 0x8b08_75fc_d666_1eb6, 0x7015_27be_a193_ff01, 0x95ab_9e79_4d88_a248,
    0xab4e_3724_d9ea_ba15, 0x4e09_a0a6_f9f2_a903, 0x546c_4ce6_43b5_ea52, 0x015a_7c2c_9969_e21f,
    0xe5d3_220d_b47e_6ce4, 0x8852_a09e_c873_e637, 0x27d0_1551_f70e_9d38, 0x50ba_d9f7_e77f_97f5,
    0x17a9_19de_deab_2ea8, 0xbd95_48e2_0ad5_6e90, 0x421b_9661_8a88_60d1, 0xce79_b8e2_7527_b950,
    0x3ed2_7a55_bff2_83c7, 0x2296_714a_fea5_3170, 0x74f3_f143_eb96_b6e1, 0xb151_d890_e14e_e188,
    0x651e_4b21_d844_1ed3, 0x0a86_8b20_04af_d0e4, 0x09a2_224f_1e39_312a, 0x1ef6_f970_8eb1_3abd,
    0x09a2_99fd_efe4_834a, 0xe8d9_6c64_cf42_df2f, 0x7714_6918_f749_f778, 0x5a46_6526_a54a_6a0a,
    0x339a_2d3b_4248_27d1, 0x32a6_1398_e09c_08df, 0x1f8c_ae43_e3bd_69f9, 0xd585_023c_484a_a76d,
    0x535f_9bd4_4669_6afe, 0x6d75_b7e0_9877_6580, 0x8d85_a7ce_b128_68a0, 0xdb7b_5c9e_a34e_6a6e,
    0x2097_0c9a_d6c9_d1bb, 0x4d00_1dc0_3495_7d3f, 0x1356_4060_1c78_384f, 0xe26c_a57c_d92a_3c6b,
    0xa9d2_ce3f_133a_acae, 0xd1c9_c2ea_f0e9_cd2e, 0x9814_b74d_3e15_8eba, 0xdfa2_8c6e_cd96_256d,
    0xd1fd_ea65_30ea_b4e4, 0x8947_9fcf_b625_d3ae, 0xea53_f62b_8079_986d, 0x0e4f_63a9_48ea_8cc1,
    0xa385_8ced_4eec_6207, 0x4ea7_5004_f433_06f9, 0x7e18_b9ce_fca3_ce6d, 0x6fc2_f08d_489d_1fa8,
    0x91f0_354b_47c6_6b74, 0xe425_37e4_c474_2d0a, 0xc952_5b6c_b899_2c97, 0xbc4d_4ef1_a906_92b4,
    0x2ab2_4b99_3a21_95cc, 0x2466_0b3e_cc46_c682, 0x1ca2_ef73_b858_3850, 0xbad9_0774_2ee8_f956,
    0x7516_5ee3_0a91_20fc, 0xccae_be12_19cb_2346, 0xcbea_6c14_3cf7_7e7d, 0x5cf6_d86d_3f88_cf9b,
    0x1069_bba8_c61d_d689, 0xaf17_9733_a9c2_2537, 0x15f8_8065_bc7a_0e6f, 0x9214_574b_4bd3_a555,
    0x765b_b0b9_f5d5_58c1, 0x3830_0b83_bf10_282e, 0xfe6c_dc49_69c8_8b7e, 0xfd86_7620_e307_1986,
    0x79ac_8355_6ed4_4dde, 0x7a02_6be4_5243_5cf7, 0x82c3_6973_9fd6_2b06, 0x4d1c_9199_de86_84e7,
    0x89af_1155_79d6_172d, 0x5c47_4512_1a64_5203, 0x5815_ab6a_f58b_d925, 0xbb83_084b_fcd7_5b62,
    0x299d_a125_5947_aae7, 0x8293_77bf_95c4_0420, 0xda8e_7e3a_8c67_8e07, 0x7ab2_2c72_b25a_cdfc,
    0x87b5_417a_6611_d0e7, 0xf15b_00cc_6dce_e2fe, 0x21b9_5aa3_70d0_d88c, 0x39e4_f3f5_5aa3_cb5c,
    0xcc01_46bc_0868_27f2, 0xdd05_6875_5ac8_dbfd, 0xc94b_d2f1_ee29_645f, 0xeb16_5715_7788_4b0e,
    0x2c4c_a597_3fd4_0d98, 0x98be_9ec5_bd36_698a, 0xb3f9_fc1d_00f5_3581, 0x1bf6_458c_6c6f_f2ed,
    0x1416_f5f2_0338_651a, 0xf590_d3f6_4737_d150, 0xd7cd_14f8_ad6a_b26b, 0xb204_c521_7e74_afee,
    0xb6e7_9dbd_6e6b_c573, 0xf28c_6085_2d5b_7a7f, 0x9354_3f0d_7d6b_b568, 0xb430_7258_15c6_4bad,
    0xba47_6481_f451_2ba8, 0xf18d_0d59_89b5_6d0c, 0x5878_8dfc_6888_27bf, 0xe563_88d2_4de6_0d7d,
];

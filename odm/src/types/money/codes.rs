//! The currencies of ISO 4217.

use super::Currency;

macro_rules! currencies {
    ($($name:ident $code:literal $digits:literal $title:literal;)*) => {
        $(
            #[doc = concat!($title, ", in units of 10^-", $digits, ".")]
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub enum $name {}

            impl Currency for $name {
                const CODE: &'static str = $code;
                const DIGITS: u32 = $digits;
            }
        )*

        /// The codes of the currencies, in order, with their digits.
        pub(super) const ALL: &[(&str, u32)] = &[$(($code, $digits)),*];
    };
}

currencies! {
    Aed "AED" 2 "United Arab Emirates dirham";
    Afn "AFN" 2 "Afghan afghani";
    All "ALL" 2 "Albanian lek";
    Amd "AMD" 2 "Armenian dram";
    Aoa "AOA" 2 "Angolan kwanza";
    Ars "ARS" 2 "Argentine peso";
    Aud "AUD" 2 "Australian dollar";
    Awg "AWG" 2 "Aruban florin";
    Azn "AZN" 2 "Azerbaijani manat";
    Bam "BAM" 2 "Bosnia and Herzegovina convertible mark";
    Bbd "BBD" 2 "Barbados dollar";
    Bdt "BDT" 2 "Bangladeshi taka";
    Bhd "BHD" 3 "Bahraini dinar";
    Bif "BIF" 0 "Burundian franc";
    Bmd "BMD" 2 "Bermudian dollar";
    Bnd "BND" 2 "Brunei dollar";
    Bob "BOB" 2 "Boliviano";
    Bov "BOV" 2 "Bolivian Mvdol";
    Brl "BRL" 2 "Brazilian real";
    Bsd "BSD" 2 "Bahamian dollar";
    Btn "BTN" 2 "Bhutanese ngultrum";
    Bwp "BWP" 2 "Botswana pula";
    Byn "BYN" 2 "Belarusian ruble";
    Bzd "BZD" 2 "Belize dollar";
    Cad "CAD" 2 "Canadian dollar";
    Cdf "CDF" 2 "Congolese franc";
    Che "CHE" 2 "WIR Euro";
    Chf "CHF" 2 "Swiss franc";
    Chw "CHW" 2 "WIR Franc";
    Clf "CLF" 4 "Unidad de Fomento";
    Clp "CLP" 0 "Chilean peso";
    Cny "CNY" 2 "Renminbi (Chinese) yuan";
    Cop "COP" 2 "Colombian peso";
    Cou "COU" 2 "Unidad de Valor Real (UVR)";
    Crc "CRC" 2 "Costa Rican colon";
    Cup "CUP" 2 "Cuban peso";
    Cve "CVE" 2 "Cape Verdean escudo";
    Czk "CZK" 2 "Czech koruna";
    Djf "DJF" 0 "Djiboutian franc";
    Dkk "DKK" 2 "Danish krone";
    Dop "DOP" 2 "Dominican peso";
    Dzd "DZD" 2 "Algerian dinar";
    Egp "EGP" 2 "Egyptian pound";
    Ern "ERN" 2 "Eritrean nakfa";
    Etb "ETB" 2 "Ethiopian birr";
    Eur "EUR" 2 "Euro";
    Fjd "FJD" 2 "Fiji dollar";
    Fkp "FKP" 2 "Falkland Islands pound";
    Gbp "GBP" 2 "Pound sterling";
    Gel "GEL" 2 "Georgian lari";
    Ghs "GHS" 2 "Ghanaian cedi";
    Gip "GIP" 2 "Gibraltar pound";
    Gmd "GMD" 2 "Gambian dalasi";
    Gnf "GNF" 0 "Guinean franc";
    Gtq "GTQ" 2 "Guatemalan quetzal";
    Gyd "GYD" 2 "Guyanese dollar";
    Hkd "HKD" 2 "Hong Kong dollar";
    Hnl "HNL" 2 "Honduran lempira";
    Htg "HTG" 2 "Haitian gourde";
    Huf "HUF" 2 "Hungarian forint";
    Idr "IDR" 2 "Indonesian rupiah";
    Ils "ILS" 2 "Israeli new shekel";
    Inr "INR" 2 "Indian rupee";
    Iqd "IQD" 3 "Iraqi dinar";
    Irr "IRR" 2 "Iranian rial";
    Isk "ISK" 0 "Icelandic króna";
    Jmd "JMD" 2 "Jamaican dollar";
    Jod "JOD" 3 "Jordanian dinar";
    Jpy "JPY" 0 "Japanese yen";
    Kes "KES" 2 "Kenyan shilling";
    Kgs "KGS" 2 "Kyrgyzstani som";
    Khr "KHR" 2 "Cambodian riel";
    Kmf "KMF" 0 "Comoro franc";
    Kpw "KPW" 2 "North Korean won";
    Krw "KRW" 0 "South Korean won";
    Kwd "KWD" 3 "Kuwaiti dinar";
    Kyd "KYD" 2 "Cayman Islands dollar";
    Kzt "KZT" 2 "Kazakhstani tenge";
    Lak "LAK" 2 "Lao kip";
    Lbp "LBP" 2 "Lebanese pound";
    Lkr "LKR" 2 "Sri Lankan rupee";
    Lrd "LRD" 2 "Liberian dollar";
    Lsl "LSL" 2 "Lesotho loti";
    Lyd "LYD" 3 "Libyan dinar";
    Mad "MAD" 2 "Moroccan dirham";
    Mdl "MDL" 2 "Moldovan leu";
    Mga "MGA" 2 "Malagasy ariary";
    Mkd "MKD" 2 "Macedonian denar";
    Mmk "MMK" 2 "Myanmar kyat";
    Mnt "MNT" 2 "Mongolian tögrög";
    Mop "MOP" 2 "Macanese pataca";
    Mru "MRU" 2 "Mauritanian ouguiya";
    Mur "MUR" 2 "Mauritian rupee";
    Mvr "MVR" 2 "Maldivian rufiyaa";
    Mwk "MWK" 2 "Malawian kwacha";
    Mxn "MXN" 2 "Mexican peso";
    Mxv "MXV" 2 "Mexican Unidad de Inversion (UDI)";
    Myr "MYR" 2 "Malaysian ringgit";
    Mzn "MZN" 2 "Mozambican metical";
    Nad "NAD" 2 "Namibian dollar";
    Ngn "NGN" 2 "Nigerian naira";
    Nio "NIO" 2 "Nicaraguan córdoba";
    Nok "NOK" 2 "Norwegian krone";
    Npr "NPR" 2 "Nepalese rupee";
    Nzd "NZD" 2 "New Zealand dollar";
    Omr "OMR" 3 "Omani rial";
    Pab "PAB" 2 "Panamanian balboa";
    Pen "PEN" 2 "Peruvian sol";
    Pgk "PGK" 2 "Papua New Guinean kina";
    Php "PHP" 2 "Philippine peso";
    Pkr "PKR" 2 "Pakistani rupee";
    Pln "PLN" 2 "Polish złoty";
    Pyg "PYG" 0 "Paraguayan guaraní";
    Qar "QAR" 2 "Qatari riyal";
    Ron "RON" 2 "Romanian leu";
    Rsd "RSD" 2 "Serbian dinar";
    Rub "RUB" 2 "Russian ruble";
    Rwf "RWF" 0 "Rwandan franc";
    Sar "SAR" 2 "Saudi riyal";
    Sbd "SBD" 2 "Solomon Islands dollar";
    Scr "SCR" 2 "Seychelles rupee";
    Sdg "SDG" 2 "Sudanese pound";
    Sek "SEK" 2 "Swedish krona/kronor";
    Sgd "SGD" 2 "Singapore dollar";
    Shp "SHP" 2 "Saint Helena pound";
    Sle "SLE" 2 "Sierra Leonean leone";
    Sos "SOS" 2 "Somali shilling";
    Srd "SRD" 2 "Surinamese dollar";
    Ssp "SSP" 2 "South Sudanese pound";
    Stn "STN" 2 "São Tomé and Príncipe dobra";
    Svc "SVC" 2 "Salvadoran colón";
    Syp "SYP" 2 "Syrian pound";
    Szl "SZL" 2 "Swazi lilangeni";
    Thb "THB" 2 "Thai baht";
    Tjs "TJS" 2 "Tajikistani somoni";
    Tmt "TMT" 2 "Turkmenistan manat";
    Tnd "TND" 3 "Tunisian dinar";
    Top "TOP" 2 "Tongan paʻanga";
    Try "TRY" 2 "Turkish lira";
    Ttd "TTD" 2 "Trinidad and Tobago dollar";
    Twd "TWD" 2 "New Taiwan dollar";
    Tzs "TZS" 2 "Tanzanian shilling";
    Uah "UAH" 2 "Ukrainian hryvnia";
    Ugx "UGX" 0 "Ugandan shilling";
    Usd "USD" 2 "United States dollar";
    Usn "USN" 2 "United States dollar (next day)";
    Uyi "UYI" 0 "Uruguay Peso en Unidades Indexadas (URUIURUI)";
    Uyu "UYU" 2 "Uruguayan peso";
    Uyw "UYW" 4 "Unidad previsional";
    Uzs "UZS" 2 "Uzbekistan som";
    Ved "VED" 2 "Venezuelan bolívar soberano";
    Vnd "VND" 0 "Vietnamese đồng";
    Vuv "VUV" 0 "Vanuatu vatu";
    Wst "WST" 2 "Samoan tala";
    Xad "XAD" 2 "Arab Accounting Dinar";
    Xaf "XAF" 0 "CFA franc BEAC";
    Xcd "XCD" 2 "East Caribbean dollar";
    Xcg "XCG" 2 "Caribean guilder";
    Xof "XOF" 0 "CFA franc BCEAO";
    Xpf "XPF" 0 "CFP franc (franc Pacifique)";
    Yer "YER" 2 "Yemeni rial";
    Zar "ZAR" 2 "South African rand";
    Zmw "ZMW" 2 "Zambian kwacha";
    Zwg "ZWG" 2 "Zimbabwe Gold";
}

#[cfg(test)]
mod tests {
    use iso_currency::{Currency, IntoEnumIterator};

    use super::ALL;

    #[test]
    fn the_list_is_that_of_the_standard() {
        let standard = Currency::iter().filter(|one| one.is_superseded().is_none());
        let mut standard: Vec<_> = standard
            .filter_map(|one| Some((one.code().to_owned(), u32::from(one.exponent()?))))
            .collect();
        standard.sort();
        let listed: Vec<_> = ALL
            .iter()
            .map(|(code, digits)| ((*code).to_owned(), *digits))
            .collect();
        assert_eq!(listed, standard);
    }
}

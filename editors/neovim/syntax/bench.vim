" Highlighting of benchbrief's specs (.bench).
" Written by `python -m editors` from editors/vim.py: change that.
if exists("b:current_syntax")
  finish
endif
syntax case match
syntax sync minlines=200

" names
syntax match benchConstant /\v<%(technical_brief|drop_and_load|after_writes|exponential|interleaved|raw_storage|white_paper|sequential|standalone|as_needed|automatic|direction|measuring|computed|continue|customer|db_bench|embedded|in_brief|internal|io_uring|lvm_thin|markdown|one_page|rounding|snapshot|changed|columns|compact|decided|grouped|hotspot|loading|mongodb|rocksdb|sharded|try_all|uniform|zipfian|latest|letter|libaio|steady|alike|bound|btrfs|facts|false|limit|links|local|pages|psync|ratio|reuse|slide|start|table|typed|base|best|blog|docx|full|html|kept|none|pptx|rows|stop|true|undo|xlsx|ycsb|fio|pdf|zfs|a4|en|ja)>/
syntax match benchDimension /\v\.@1<!<%(experiment|operation|hardware|workload|threads|repeat|target|phase|node|time)>/
syntax match benchMeasure /\v\.@1<!<%(database\.evictions_by_operations|database\.space_amplification|database\.write_amplification|database\.compaction_written|database\.cache_hit_ratio|database\.compaction_read|database\.replication_lag|network\.packets_received|database\.cache_written|database\.bloom_useful|database\.cache_misses|database\.user_written|database\.cache_dirty|database\.connections|database\.size_loaded|database\.wal_written|network\.packets_sent|tcp\.listen_overflows|database\.cache_hits|database\.cache_read|database\.cache_used|memory\.major_faults|timeline\.throughput|database\.evictions|database\.user_read|database\.commands|database\.getmores|database\.received|database\.deletes|database\.flushed|database\.inserts|database\.queries|database\.stalled|database\.updates|disk\.utilisation|disk\.write_await|memory\.available|memory\.swap_used|network\.received|recovery\.latency|cpu\.utilisation|database\.active|database\.memory|database\.queued|disk\.read_await|memory\.pressure|memory\.swap_out|recovery\.before|recovery\.lowest|recovery\.outage|tcp\.connections|tcp\.retransmits|memory\.swap_in|network\.errors|database\.sent|database\.size|disk\.pressure|latency\.p9999|memory\.cached|network\.drops|cpu\.pressure|latency\.mean|latency\.p999|memory\.dirty|network\.sent|recovery\.dip|tcp\.segments|timeline\.p99|disk\.writes|latency\.max|latency\.min|latency\.p50|latency\.p75|latency\.p90|latency\.p95|latency\.p99|memory\.used|cpu\.iowait|disk\.queue|disk\.reads|disk\.write|throughput|cpu\.steal|disk\.read|sustained|database|recovery|timeline|latency|network|energy|errors|memory|nodes|power|disk|cpu|tcp)>\.@!/
syntax match benchFunction /\v<%(time_to_steady|until_steady|replica_set|saturation|confident|adaptive|db_bench|openload|command|go_ycsb|highest|p_value|redfish|median|random|secret|count|first|range|slurm|ipmi|knee|last|mean|rapl|snmp|ycsb|csv|env|fio|max|min|sum|usl|ci|cv)>\ze\s*\(/

" links
syntax match benchKeyword /\v<%(override|along|every|each|from|over|when|and|for|not|by|on|or)>/
syntax match benchKeyword /\v<%(higher|lower)\s+is\s+better>/
syntax match benchKeyword /\v,@1<=\s*\zs%(estimated|dashed|format|color|label|axis|band|log)>\ze%(\s*[=:.(\[])@!/
syntax match benchOperator /\v[<>=!]\=|[-+*<>]|[/]/
syntax match benchOperator /\v\.\./
syntax match benchOperator /\v%([0-9A-Za-z)\]]\s+)@<=x\ze\s+[0-9A-Za-z(]/

" numbers
syntax match benchUnit /\v%(<\d+%(_\d+)*%(\.\d+%(_\d+)*)?%([eE][+-]?\d+)?%([kMGT]>)?\s*)@<=%(\%|%(documents|document|records|threads|months|record|thread|Gibit|Kibit|Mibit|Pibit|Tibit|cores|month|nodes|vCPUs|weeks|years|Gbit|Gops|IOPS|Mbit|Mops|Tbit|core|days|degC|kbit|kops|node|vCPU|week|year|AED|AFN|ALL|AMD|AOA|ARS|AUD|AWG|AZN|BAM|BBD|BDT|BGN|BHD|BIF|BMD|BND|BOB|BRL|BSD|BTN|BWP|BYN|BZD|CAD|CDF|CHF|CLP|CNY|COP|CRC|CUP|CVE|CZK|DJF|DKK|DOP|DZD|EGP|ERN|ETB|EUR|FJD|FKP|GBP|GEL|GHS|GHz|GIP|GMD|GNF|GTQ|GWh|GYD|GiB|Gop|HKD|HNL|HTG|HUF|IDR|ILS|INR|IQD|IRR|ISK|JMD|JOD|JPY|KES|KGS|KHR|KMF|KPW|KRW|KWD|KYD|KZT|KiB|LAK|LBP|LKR|LRD|LSL|LYD|MAD|MDL|MGA|MHz|MKD|MMK|MNT|MOP|MRU|MUR|MVR|MWK|MWh|MXN|MYR|MZN|MiB|Mop|NAD|NGN|NIO|NOK|NPR|NZD|OMR|PAB|PEN|PGK|PHP|PKR|PLN|PYG|PiB|QAR|RON|RSD|RUB|RWF|SAR|SBD|SCR|SDG|SEK|SGD|SHP|SLE|SOS|SRD|SSP|STN|SVC|SYP|SZL|THB|TJS|TMT|TND|TOP|TRY|TTD|TWD|TZS|TiB|UAH|UGX|USD|UYU|UZS|VED|VES|VND|VUV|WST|XAF|XCD|XOF|XPF|YER|ZAR|ZMW|bit|day|kHz|kWh|kop|min|ops|rpm|GB|GJ|Hz|MB|MJ|MW|PB|TB|Wh|kB|kJ|kW|mW|ms|ns|op|us|µs|B|J|W|d|h|s)>)%([/]%(\%|%(documents|document|records|threads|months|record|thread|Gibit|Kibit|Mibit|Pibit|Tibit|cores|month|nodes|vCPUs|weeks|years|Gbit|Gops|IOPS|Mbit|Mops|Tbit|core|days|degC|kbit|kops|node|vCPU|week|year|AED|AFN|ALL|AMD|AOA|ARS|AUD|AWG|AZN|BAM|BBD|BDT|BGN|BHD|BIF|BMD|BND|BOB|BRL|BSD|BTN|BWP|BYN|BZD|CAD|CDF|CHF|CLP|CNY|COP|CRC|CUP|CVE|CZK|DJF|DKK|DOP|DZD|EGP|ERN|ETB|EUR|FJD|FKP|GBP|GEL|GHS|GHz|GIP|GMD|GNF|GTQ|GWh|GYD|GiB|Gop|HKD|HNL|HTG|HUF|IDR|ILS|INR|IQD|IRR|ISK|JMD|JOD|JPY|KES|KGS|KHR|KMF|KPW|KRW|KWD|KYD|KZT|KiB|LAK|LBP|LKR|LRD|LSL|LYD|MAD|MDL|MGA|MHz|MKD|MMK|MNT|MOP|MRU|MUR|MVR|MWK|MWh|MXN|MYR|MZN|MiB|Mop|NAD|NGN|NIO|NOK|NPR|NZD|OMR|PAB|PEN|PGK|PHP|PKR|PLN|PYG|PiB|QAR|RON|RSD|RUB|RWF|SAR|SBD|SCR|SDG|SEK|SGD|SHP|SLE|SOS|SRD|SSP|STN|SVC|SYP|SZL|THB|TJS|TMT|TND|TOP|TRY|TTD|TWD|TZS|TiB|UAH|UGX|USD|UYU|UZS|VED|VES|VND|VUV|WST|XAF|XCD|XOF|XPF|YER|ZAR|ZMW|bit|day|kHz|kWh|kop|min|ops|rpm|GB|GJ|Hz|MB|MJ|MW|PB|TB|Wh|kB|kJ|kW|mW|ms|ns|op|us|µs|B|J|W|d|h|s)>))*/ contained
syntax match benchNumber /\v<\d+%(_\d+)*%(\.\d+%(_\d+)*)?%([eE][+-]?\d+)?%([kMGT]>)?/
syntax match benchQuantity /\v<\d+%(_\d+)*%(\.\d+%(_\d+)*)?%([eE][+-]?\d+)?%([kMGT]>)?\s*%(\%|%(documents|document|records|threads|months|record|thread|Gibit|Kibit|Mibit|Pibit|Tibit|cores|month|nodes|vCPUs|weeks|years|Gbit|Gops|IOPS|Mbit|Mops|Tbit|core|days|degC|kbit|kops|node|vCPU|week|year|AED|AFN|ALL|AMD|AOA|ARS|AUD|AWG|AZN|BAM|BBD|BDT|BGN|BHD|BIF|BMD|BND|BOB|BRL|BSD|BTN|BWP|BYN|BZD|CAD|CDF|CHF|CLP|CNY|COP|CRC|CUP|CVE|CZK|DJF|DKK|DOP|DZD|EGP|ERN|ETB|EUR|FJD|FKP|GBP|GEL|GHS|GHz|GIP|GMD|GNF|GTQ|GWh|GYD|GiB|Gop|HKD|HNL|HTG|HUF|IDR|ILS|INR|IQD|IRR|ISK|JMD|JOD|JPY|KES|KGS|KHR|KMF|KPW|KRW|KWD|KYD|KZT|KiB|LAK|LBP|LKR|LRD|LSL|LYD|MAD|MDL|MGA|MHz|MKD|MMK|MNT|MOP|MRU|MUR|MVR|MWK|MWh|MXN|MYR|MZN|MiB|Mop|NAD|NGN|NIO|NOK|NPR|NZD|OMR|PAB|PEN|PGK|PHP|PKR|PLN|PYG|PiB|QAR|RON|RSD|RUB|RWF|SAR|SBD|SCR|SDG|SEK|SGD|SHP|SLE|SOS|SRD|SSP|STN|SVC|SYP|SZL|THB|TJS|TMT|TND|TOP|TRY|TTD|TWD|TZS|TiB|UAH|UGX|USD|UYU|UZS|VED|VES|VND|VUV|WST|XAF|XCD|XOF|XPF|YER|ZAR|ZMW|bit|day|kHz|kWh|kop|min|ops|rpm|GB|GJ|Hz|MB|MJ|MW|PB|TB|Wh|kB|kJ|kW|mW|ms|ns|op|us|µs|B|J|W|d|h|s)>)%([/]%(\%|%(documents|document|records|threads|months|record|thread|Gibit|Kibit|Mibit|Pibit|Tibit|cores|month|nodes|vCPUs|weeks|years|Gbit|Gops|IOPS|Mbit|Mops|Tbit|core|days|degC|kbit|kops|node|vCPU|week|year|AED|AFN|ALL|AMD|AOA|ARS|AUD|AWG|AZN|BAM|BBD|BDT|BGN|BHD|BIF|BMD|BND|BOB|BRL|BSD|BTN|BWP|BYN|BZD|CAD|CDF|CHF|CLP|CNY|COP|CRC|CUP|CVE|CZK|DJF|DKK|DOP|DZD|EGP|ERN|ETB|EUR|FJD|FKP|GBP|GEL|GHS|GHz|GIP|GMD|GNF|GTQ|GWh|GYD|GiB|Gop|HKD|HNL|HTG|HUF|IDR|ILS|INR|IQD|IRR|ISK|JMD|JOD|JPY|KES|KGS|KHR|KMF|KPW|KRW|KWD|KYD|KZT|KiB|LAK|LBP|LKR|LRD|LSL|LYD|MAD|MDL|MGA|MHz|MKD|MMK|MNT|MOP|MRU|MUR|MVR|MWK|MWh|MXN|MYR|MZN|MiB|Mop|NAD|NGN|NIO|NOK|NPR|NZD|OMR|PAB|PEN|PGK|PHP|PKR|PLN|PYG|PiB|QAR|RON|RSD|RUB|RWF|SAR|SBD|SCR|SDG|SEK|SGD|SHP|SLE|SOS|SRD|SSP|STN|SVC|SYP|SZL|THB|TJS|TMT|TND|TOP|TRY|TTD|TWD|TZS|TiB|UAH|UGX|USD|UYU|UZS|VED|VES|VND|VUV|WST|XAF|XCD|XOF|XPF|YER|ZAR|ZMW|bit|day|kHz|kWh|kop|min|ops|rpm|GB|GJ|Hz|MB|MJ|MW|PB|TB|Wh|kB|kJ|kW|mW|ms|ns|op|us|µs|B|J|W|d|h|s)>))*%(\s*[:(])@!%(%(\s*"%(\\.|[^"\\])*")?\s*\=\=@!)@!/ contains=benchNumber,benchUnit transparent

" what is declared
syntax match benchParameter /\v<\h\w*>\ze\s*:/
syntax match benchAttribute /\v<\h\w*>\ze%(\s*"%(\\.|[^"\\])*")?\s*\=\=@!/
syntax match benchBlock /\v<%(callout|compare|options|palette|section|figure|table|theme)>\ze\s*%(\"|\{|$)/
syntax match benchBlock /\v%(<each\s+)@<!<%(experiment|scheduler|database|hardware|workload|profile|variant|client|factor|report|claim|level|probe|ssh)>\ze%(\s*"%(\\.|[^"\\])*")?\s*\{/
syntax match benchBlock /\v%(^|[{}])\s*\zs%(experiment|scheduler|database|hardware|workload|profile|variant|client|factor|report|claim|level|probe|ssh)>\ze\s+\h\w*%(\s*"%(\\.|[^"\\])*")?\s*%(\{|<from>|$|#)/ nextgroup=benchName skipwhite
syntax match benchBlock /\v%(<override\s+)@<=%(experiment|scheduler|database|hardware|workload|profile|variant|client|factor|report|claim|level|probe|ssh)>/ nextgroup=benchName skipwhite
syntax match benchBlock /\v<formula>\ze\s+\h\w*/
syntax match benchBlock /\v<at>\ze\s+[0-9A-Za-z_(][^={]*\{/
syntax match benchStatement /\v<%(expect|metric|param|use)>\ze\s+%(\"|\h\w*)/ nextgroup=benchName skipwhite
syntax match benchStatement /\v<expect>\ze\s+/
syntax match benchName /\v\h\w*/ contained
syntax match benchIn /\v<in\s+%(1[/])?%(\%|%(documents|document|records|threads|months|record|thread|Gibit|Kibit|Mibit|Pibit|Tibit|cores|month|nodes|vCPUs|weeks|years|Gbit|Gops|IOPS|Mbit|Mops|Tbit|core|days|degC|kbit|kops|node|vCPU|week|year|AED|AFN|ALL|AMD|AOA|ARS|AUD|AWG|AZN|BAM|BBD|BDT|BGN|BHD|BIF|BMD|BND|BOB|BRL|BSD|BTN|BWP|BYN|BZD|CAD|CDF|CHF|CLP|CNY|COP|CRC|CUP|CVE|CZK|DJF|DKK|DOP|DZD|EGP|ERN|ETB|EUR|FJD|FKP|GBP|GEL|GHS|GHz|GIP|GMD|GNF|GTQ|GWh|GYD|GiB|Gop|HKD|HNL|HTG|HUF|IDR|ILS|INR|IQD|IRR|ISK|JMD|JOD|JPY|KES|KGS|KHR|KMF|KPW|KRW|KWD|KYD|KZT|KiB|LAK|LBP|LKR|LRD|LSL|LYD|MAD|MDL|MGA|MHz|MKD|MMK|MNT|MOP|MRU|MUR|MVR|MWK|MWh|MXN|MYR|MZN|MiB|Mop|NAD|NGN|NIO|NOK|NPR|NZD|OMR|PAB|PEN|PGK|PHP|PKR|PLN|PYG|PiB|QAR|RON|RSD|RUB|RWF|SAR|SBD|SCR|SDG|SEK|SGD|SHP|SLE|SOS|SRD|SSP|STN|SVC|SYP|SZL|THB|TJS|TMT|TND|TOP|TRY|TTD|TWD|TZS|TiB|UAH|UGX|USD|UYU|UZS|VED|VES|VND|VUV|WST|XAF|XCD|XOF|XPF|YER|ZAR|ZMW|bit|day|kHz|kWh|kop|min|ops|rpm|GB|GJ|Hz|MB|MJ|MW|PB|TB|Wh|kB|kJ|kW|mW|ms|ns|op|us|µs|B|J|W|d|h|s)>)%(%([/]|\*)%(\%|%(documents|document|records|threads|months|record|thread|Gibit|Kibit|Mibit|Pibit|Tibit|cores|month|nodes|vCPUs|weeks|years|Gbit|Gops|IOPS|Mbit|Mops|Tbit|core|days|degC|kbit|kops|node|vCPU|week|year|AED|AFN|ALL|AMD|AOA|ARS|AUD|AWG|AZN|BAM|BBD|BDT|BGN|BHD|BIF|BMD|BND|BOB|BRL|BSD|BTN|BWP|BYN|BZD|CAD|CDF|CHF|CLP|CNY|COP|CRC|CUP|CVE|CZK|DJF|DKK|DOP|DZD|EGP|ERN|ETB|EUR|FJD|FKP|GBP|GEL|GHS|GHz|GIP|GMD|GNF|GTQ|GWh|GYD|GiB|Gop|HKD|HNL|HTG|HUF|IDR|ILS|INR|IQD|IRR|ISK|JMD|JOD|JPY|KES|KGS|KHR|KMF|KPW|KRW|KWD|KYD|KZT|KiB|LAK|LBP|LKR|LRD|LSL|LYD|MAD|MDL|MGA|MHz|MKD|MMK|MNT|MOP|MRU|MUR|MVR|MWK|MWh|MXN|MYR|MZN|MiB|Mop|NAD|NGN|NIO|NOK|NPR|NZD|OMR|PAB|PEN|PGK|PHP|PKR|PLN|PYG|PiB|QAR|RON|RSD|RUB|RWF|SAR|SBD|SCR|SDG|SEK|SGD|SHP|SLE|SOS|SRD|SSP|STN|SVC|SYP|SZL|THB|TJS|TMT|TND|TOP|TRY|TTD|TWD|TZS|TiB|UAH|UGX|USD|UYU|UZS|VED|VES|VND|VUV|WST|XAF|XCD|XOF|XPF|YER|ZAR|ZMW|bit|day|kHz|kWh|kop|min|ops|rpm|GB|GJ|Hz|MB|MJ|MW|PB|TB|Wh|kB|kJ|kW|mW|ms|ns|op|us|µs|B|J|W|d|h|s)>))*\ze\s*\=/ contains=benchInWord,benchInUnit
syntax match benchInWord /\v<in>/ contained
syntax match benchInUnit /\v%(1[/])?%(\%|%(documents|document|records|threads|months|record|thread|Gibit|Kibit|Mibit|Pibit|Tibit|cores|month|nodes|vCPUs|weeks|years|Gbit|Gops|IOPS|Mbit|Mops|Tbit|core|days|degC|kbit|kops|node|vCPU|week|year|AED|AFN|ALL|AMD|AOA|ARS|AUD|AWG|AZN|BAM|BBD|BDT|BGN|BHD|BIF|BMD|BND|BOB|BRL|BSD|BTN|BWP|BYN|BZD|CAD|CDF|CHF|CLP|CNY|COP|CRC|CUP|CVE|CZK|DJF|DKK|DOP|DZD|EGP|ERN|ETB|EUR|FJD|FKP|GBP|GEL|GHS|GHz|GIP|GMD|GNF|GTQ|GWh|GYD|GiB|Gop|HKD|HNL|HTG|HUF|IDR|ILS|INR|IQD|IRR|ISK|JMD|JOD|JPY|KES|KGS|KHR|KMF|KPW|KRW|KWD|KYD|KZT|KiB|LAK|LBP|LKR|LRD|LSL|LYD|MAD|MDL|MGA|MHz|MKD|MMK|MNT|MOP|MRU|MUR|MVR|MWK|MWh|MXN|MYR|MZN|MiB|Mop|NAD|NGN|NIO|NOK|NPR|NZD|OMR|PAB|PEN|PGK|PHP|PKR|PLN|PYG|PiB|QAR|RON|RSD|RUB|RWF|SAR|SBD|SCR|SDG|SEK|SGD|SHP|SLE|SOS|SRD|SSP|STN|SVC|SYP|SZL|THB|TJS|TMT|TND|TOP|TRY|TTD|TWD|TZS|TiB|UAH|UGX|USD|UYU|UZS|VED|VES|VND|VUV|WST|XAF|XCD|XOF|XPF|YER|ZAR|ZMW|bit|day|kHz|kWh|kop|min|ops|rpm|GB|GJ|Hz|MB|MJ|MW|PB|TB|Wh|kB|kJ|kW|mW|ms|ns|op|us|µs|B|J|W|d|h|s)>)%(%([/]|\*)%(\%|%(documents|document|records|threads|months|record|thread|Gibit|Kibit|Mibit|Pibit|Tibit|cores|month|nodes|vCPUs|weeks|years|Gbit|Gops|IOPS|Mbit|Mops|Tbit|core|days|degC|kbit|kops|node|vCPU|week|year|AED|AFN|ALL|AMD|AOA|ARS|AUD|AWG|AZN|BAM|BBD|BDT|BGN|BHD|BIF|BMD|BND|BOB|BRL|BSD|BTN|BWP|BYN|BZD|CAD|CDF|CHF|CLP|CNY|COP|CRC|CUP|CVE|CZK|DJF|DKK|DOP|DZD|EGP|ERN|ETB|EUR|FJD|FKP|GBP|GEL|GHS|GHz|GIP|GMD|GNF|GTQ|GWh|GYD|GiB|Gop|HKD|HNL|HTG|HUF|IDR|ILS|INR|IQD|IRR|ISK|JMD|JOD|JPY|KES|KGS|KHR|KMF|KPW|KRW|KWD|KYD|KZT|KiB|LAK|LBP|LKR|LRD|LSL|LYD|MAD|MDL|MGA|MHz|MKD|MMK|MNT|MOP|MRU|MUR|MVR|MWK|MWh|MXN|MYR|MZN|MiB|Mop|NAD|NGN|NIO|NOK|NPR|NZD|OMR|PAB|PEN|PGK|PHP|PKR|PLN|PYG|PiB|QAR|RON|RSD|RUB|RWF|SAR|SBD|SCR|SDG|SEK|SGD|SHP|SLE|SOS|SRD|SSP|STN|SVC|SYP|SZL|THB|TJS|TMT|TND|TOP|TRY|TTD|TWD|TZS|TiB|UAH|UGX|USD|UYU|UZS|VED|VES|VND|VUV|WST|XAF|XCD|XOF|XPF|YER|ZAR|ZMW|bit|day|kHz|kWh|kop|min|ops|rpm|GB|GJ|Hz|MB|MJ|MW|PB|TB|Wh|kB|kJ|kW|mW|ms|ns|op|us|µs|B|J|W|d|h|s)>))*/ contained

" texts
syntax match benchFormat /:[^{}"]*\ze}/ contained
syntax region benchGroup start=/[[(]/ end=/[])]/ contained transparent oneline contains=@benchExpression
syntax cluster benchExpression contains=benchConstant,benchDimension,benchMeasure,benchFunction,benchKeyword,benchOperator,benchNumber,benchQuantity,benchParameter,benchGroup
syntax cluster benchHoled contains=@benchExpression,benchFormat
syntax region benchHole matchgroup=benchBrace start=/{/ end=/}/ contained contains=@benchHoled
syntax region benchTextHole matchgroup=benchBrace start=/{/ end=/}/ end=/\ze"""/ contained contains=@benchHoled
syntax cluster benchInString contains=benchEscape,benchHole
syntax match benchEscape /\\[nt"\\]\|{{\|}}/ contained
syntax region benchString start=/"/ skip=/\\./ end=/"/ end=/$/ oneline keepend contains=@benchInString
syntax region benchText start=/"""/ skip=/\\./ end=/"""/ contains=benchEscape,benchTextHole,@Spell

" comments
syntax match benchTodo /\<\(TODO\|FIXME\|XXX\)\>/ contained
syntax match benchComment /#.*$/ contains=benchTodo,@Spell

highlight default link benchAttribute Identifier
highlight default link benchBlock Statement
highlight default link benchBrace Delimiter
highlight default link benchComment Comment
highlight default link benchConstant Constant
highlight default link benchDimension Type
highlight default link benchEscape SpecialChar
highlight default link benchFormat SpecialChar
highlight default link benchFunction Function
highlight default link benchInUnit Type
highlight default link benchInWord Keyword
highlight default link benchKeyword Keyword
highlight default link benchMeasure Special
highlight default link benchName Type
highlight default link benchNumber Number
highlight default link benchOperator Operator
highlight default link benchParameter Identifier
highlight default link benchStatement Statement
highlight default link benchString String
highlight default link benchText String
highlight default link benchTodo Todo
highlight default link benchUnit Type

let b:current_syntax = "bench"
